/** Form fields, and the form that submits them. */
import { type ReactNode, useId } from 'react'
import { Problem } from './problem.tsx'

interface FieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  hint?: string | undefined
  required?: boolean | undefined
}

function Labelled(props: {
  label: string
  hint?: string | undefined
  children: (id: string, hintId?: string) => ReactNode
}) {
  const { label, hint, children } = props
  const id = useId()
  const hintId = hint ? `${id}hint` : undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id, hintId)}
      {hint && <small id={hintId}>{hint}</small>}
    </div>
  )
}

export function Field(
  props: FieldProps & {
    type?: string
    autoComplete?: string
    placeholder?: string
    autoFocus?: boolean
    maxLength?: number
    minLength?: number
    step?: 'any'
    inputMode?: 'numeric'
    pattern?: string
    mono?: boolean
  },
) {
  const { label, hint, onChange, required = true, type = 'text', mono, ...input } = props
  return (
    <Labelled label={label} hint={hint}>
      {(id, hintId) => (
        <input
          {...input}
          id={id}
          aria-describedby={hintId}
          className={mono ? 'input mono' : 'input'}
          type={type}
          required={required}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Labelled>
  )
}

export function TextArea(props: FieldProps & { rows?: number; mono?: boolean }) {
  const { label, hint, onChange, required = false, mono, ...input } = props
  return (
    <Labelled label={label} hint={hint}>
      {(id, hintId) => (
        <textarea
          {...input}
          id={id}
          aria-describedby={hintId}
          className={mono ? 'input mono' : 'input'}
          required={required}
          spellCheck={!mono}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Labelled>
  )
}

/** A select with labelled options. */
export function Choice<T extends string>(props: {
  label: string
  value: T
  options: Record<T, string>
  onChange: (value: T) => void
  hint?: string
}) {
  const { label, hint, value, options, onChange } = props
  return (
    <Labelled label={label} hint={hint}>
      {(id, hintId) => (
        <select
          id={id}
          className="input"
          aria-describedby={hintId}
          value={value}
          onChange={(event) => onChange(event.target.value as T)}
        >
          {Object.entries<string>(options).map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

export function Check(props: {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
  hint?: string
}) {
  const { label, checked, onChange, hint } = props
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {hint && <small>{hint}</small>}
      </span>
    </label>
  )
}

/** The part of a `useMutation` result that a form needs. */
export interface FormMutation {
  mutate: () => void
  error: unknown
  isPending: boolean
}

/** Fields that are submitted together. Errors appear above the button, which is inactive while a request is pending. */
export function Form(props: {
  mutation: FormMutation
  submit: string
  look?: 'main' | 'danger main'
  /** Whether the button is enabled. Defaults to true. */
  ready?: boolean
  /** Next to the submit button, usually a cancel button. */
  beside?: ReactNode
  children: ReactNode
}) {
  const { mutation, submit, look = 'main', ready = true, beside, children } = props
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        // React events bubble from a dialog to the form that contains it in the component tree. Don't submit that form too.
        event.stopPropagation()
        if (ready && !mutation.isPending) mutation.mutate()
      }}
    >
      {children}
      <Problem error={mutation.error} />
      <div className="form-end">
        {beside}
        <button
          type="submit"
          className={`button ${look}`}
          disabled={!ready}
          aria-disabled={mutation.isPending}
        >
          {submit}
        </button>
      </div>
    </form>
  )
}
