import { useEffect, useRef, useState } from 'react'
import { Icon } from './icons.tsx'

/** A search field that calls `onChange` when the operator stops typing. */
export function SearchField(props: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const { label, value, onChange } = props
  const [typed, setTyped] = useState(value)
  // The value set here comes back as a prop while the operator may still be typing. Only take values set elsewhere.
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
