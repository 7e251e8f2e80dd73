'use client'
import { useStrings } from './chat.tsx'
import { Icon } from './icons.tsx'

/** Says that something the user did was refused or didn't arrive. */
export function Problem() {
  const strings = useStrings()
  return (
    <p className="lq-failed" role="alert">
      <Icon name="warn" size={14} />
      <span>{strings.error}</span>
    </p>
  )
}
