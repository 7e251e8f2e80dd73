import { LoquatError } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Email } from '../../shared/account-fields.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { beginSession, manage } from '../../shared/manage.ts'
import { bare } from '../../shared/texts.ts'
import { Gate } from './gate.tsx'

const wantsCode = (error: unknown) =>
  error instanceof LoquatError && error.code === 'AUTH_ERR_TOTP_REQUIRED'

/** Recovery codes are longer, and have dashes. */
const secondStep = (code: string) => (/^\d{6}$/.test(code) ? { code } : { recoveryCode: code })

export function SignIn() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [asked, setAsked] = useState(false)
  const signIn = useMutation({
    mutationFn: () =>
      manage.sessions.create({ email, password, ...(asked && secondStep(bare(code))) }),
    onSuccess: beginSession,
    onError: (error) => wantsCode(error) && setAsked(true),
  })
  const sends = { ...signIn, error: wantsCode(signIn.error) ? undefined : signIn.error }
  const below = asked ? (
    'The code that your authenticator app shows, or a recovery code.'
  ) : (
    <>
      No account yet? <Link to="/sign-up">Sign up</Link>
    </>
  )
  return (
    <Gate title="Sign in" below={below}>
      <Form sends={sends} submit="Sign in">
        <Email value={email} onChange={setEmail} />
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
            autoFocus
          />
        )}
      </Form>
    </Gate>
  )
}
