/** Parts that all pages use. */
import { type ReactNode, useId, useState } from 'react'
import { textOf } from './manage.ts'

export function Field(props: {
  label: string
  value: string
  onChange: (value: string) => void
  type?: string
  autoComplete?: string
  required?: boolean
}) {
  const id = useId()
  const { label, onChange, type = 'text', required = true, ...input } = props
  return (
    <p className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        required={required}
        {...input}
        onChange={(event) => onChange(event.target.value)}
      />
    </p>
  )
}

/** One of some values, each with what it says. */
export function Choice<T extends string>(props: {
  label: string
  value: T
  options: Record<T, string>
  onChange: (value: T) => void
}) {
  const id = useId()
  const { label, value, options, onChange } = props
  return (
    <p className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value as T)}>
        {Object.entries<string>(options).map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </p>
  )
}

/** Fields that are sent together: what went wrong stands above the button, which waits for the answer. */
export function Form(props: {
  sends: { mutate: () => void; error: unknown; isPending: boolean }
  submit: string
  className?: string
  children: ReactNode
}) {
  const { sends, submit, className, children } = props
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        sends.mutate()
      }}
    >
      {children}
      <Problem error={sends.error} />
      <button type="submit" disabled={sends.isPending}>
        {submit}
      </button>
    </form>
  )
}

export const Problem = ({ error }: { error: unknown }) =>
  error ? (
    <p role="alert" className="problem">
      {textOf(error)}
    </p>
  ) : null

export const Empty = ({ children }: { children: ReactNode }) => <p className="empty">{children}</p>

/** A text to copy, shown as it is. */
export function Copyable({ label, value }: { label: string; value: string }) {
  const [copied, setCopied] = useState(false)
  const copy = () =>
    void navigator.clipboard.writeText(value).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 2_000)
    })
  return (
    <div className="copyable">
      <span>{label}</span>
      <code>{value}</code>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

/** Something that cannot be undone: it asks for the name. */
export function Destroy(props: { what: string; name: string; onConfirm: () => void }) {
  const { what, name, onConfirm } = props
  const [asked, setAsked] = useState(false)
  const [typed, setTyped] = useState('')
  if (!asked) {
    return (
      <button type="button" className="danger" onClick={() => setAsked(true)}>
        {what}
      </button>
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onConfirm()
        setAsked(false)
        setTyped('')
      }}
    >
      <Field label={`Type “${name}” to confirm`} value={typed} onChange={setTyped} />
      <button type="submit" className="danger" disabled={typed !== name}>
        {what}
      </button>{' '}
      <button type="button" onClick={() => setAsked(false)}>
        Cancel
      </button>
    </form>
  )
}

export const day = (seconds: number) =>
  new Date(seconds * 1000).toLocaleDateString(undefined, { dateStyle: 'medium' })
