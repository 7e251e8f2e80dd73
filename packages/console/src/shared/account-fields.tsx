import { Field } from './form.tsx'

interface InputProps {
  value: string
  onChange: (value: string) => void
}

/** The email that operators sign in with. Browsers fill it in. */
export const Email = (props: InputProps) => (
  <Field label="Email" type="email" autoComplete="username" {...props} />
)

/** A password field for which browsers suggest a new password. */
export const NewPassword = ({ label, ...props }: InputProps & { label: string }) => (
  <Field
    label={label}
    hint="At least 10 characters."
    type="password"
    autoComplete="new-password"
    minLength={10}
    {...props}
  />
)
