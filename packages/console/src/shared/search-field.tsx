import { useEffect, useRef, useState } from 'react'
import { Icon } from './icons.tsx'

/** Looks for a text once somebody has stopped typing. */
export function SearchField(props: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const { label, value, onChange } = props
  const [typed, setTyped] = useState(value)
  // What was sent comes back while somebody may have typed on: only what others have set is taken.
  const sent = useRef(value)
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setTyped(value)
  }, [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => {
      sent.current = typed
      onChange(typed)
    }, 250)
    return () => clearTimeout(timer)
  }, [typed, value, onChange])
  return (
    <div className="search">
      <Icon name="search" />
      <input
        className="input"
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </div>
  )
}
