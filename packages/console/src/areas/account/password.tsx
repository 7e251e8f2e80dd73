import { useState } from 'react'
import { Field } from '../../shared/form.tsx'

/** The password once more, for what keeps the account safe. */
export function usePassword({ autoFocus = true } = {}) {
  const [password, setPassword] = useState('')
  const field = (
    <Field
      label="Password"
      hint="Once more: a session could be stolen."
      type="password"
      autoComplete="current-password"
      value={password}
      onChange={setPassword}
      autoFocus={autoFocus}
    />
  )
  return { password, field }
}
