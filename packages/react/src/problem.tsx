'use client'
import { useStrings } from './chat.tsx'
import { Icon } from './icons.tsx'

/** Stands for what a pane shows, while it is loading or if it can't be loaded. */
export function Missing({ value }: { value: null | undefined }) {
  const strings = useStrings()
  if (value === undefined) return <p className="lq-empty">{strings.loading}</p>
  return (
    <p className="lq-empty" role="alert">
      {strings.notLoaded}
    </p>
  )
}

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
