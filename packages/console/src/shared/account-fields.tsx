import { Field } from './form.tsx'

interface Given {
  value: string
  onChange: (value: string) => void
}

/** As what somebody signs in: browsers fill it in. */
export const Email = (given: Given) => (
  <Field label="E-mail" type="email" autoComplete="username" {...given} />
)

/** One that is chosen now: browsers offer to make it. */
export const NewPassword = ({ label, ...given }: Given & { label: string }) => (
  <Field
    label={label}
    hint="At least 10 characters."
    type="password"
    autoComplete="new-password"
    minLength={10}
    {...given}
  />
)
