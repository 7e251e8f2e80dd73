import { useState } from 'react'
import { Field } from '../../shared/form.tsx'

/** A password field for changes that protect the account, in case someone else is using the session. */
export function usePassword({ autoFocus = true } = {}) {
  const [password, setPassword] = useState('')
  const field = (
    <Field
      label="Password"
      hint="Confirm your password to continue."
      type="password"
      autoComplete="current-password"
      value={password}
      onChange={setPassword}
      autoFocus={autoFocus}
    />
  )
  return { password, field }
}
