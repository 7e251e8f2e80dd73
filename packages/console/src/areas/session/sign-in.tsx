import { LoquatError } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { manage } from '../../shared/manage.ts'
import { Field, Form } from '../../shared/parts.tsx'

const wantsCode = (error: unknown) =>
  error instanceof LoquatError && error.code === 'AUTH_ERR_TOTP_REQUIRED'

export function SignIn() {
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [asked, setAsked] = useState(false)
  const signIn = useMutation({
    mutationFn: () => manage.sessions.create({ email, password, ...(asked && { code }) }),
    onSuccess: (data) => queries.setQueryData(['session'], data),
    onError: (error) => wantsCode(error) && setAsked(true),
  })
  return (
    <main className="narrow">
      <h1>Sign in</h1>
      <Form
        sends={{ ...signIn, error: wantsCode(signIn.error) ? undefined : signIn.error }}
        submit="Sign in"
      >
        <Field
          label="E-mail"
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
        />
        <Field
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
        />
        {asked && (
          <Field
            label="One-time code"
            autoComplete="one-time-code"
            value={code}
            onChange={setCode}
          />
        )}
      </Form>
    </main>
  )
}
