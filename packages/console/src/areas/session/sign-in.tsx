import { LoquatError } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Email } from '../../shared/account-fields.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { beginSession, manage } from '../../shared/manage.ts'
import { withoutSpaces } from '../../shared/texts.ts'
import { SignedOutPage } from './signed-out-page.tsx'

const wantsCode = (error: unknown) =>
  error instanceof LoquatError && error.code === 'AUTH_ERR_TOTP_REQUIRED'

/** One-time codes have six digits. Anything else is a recovery code. */
const secondStep = (code: string) => (/^\d{6}$/.test(code) ? { code } : { recoveryCode: code })

export function SignIn() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [codeRequired, setCodeRequired] = useState(false)
  const signIn = useMutation({
    mutationFn: () =>
      manage.sessions.create({
        email,
        password,
        ...(codeRequired && secondStep(withoutSpaces(code))),
      }),
    onSuccess: beginSession,
    onError: (error) => wantsCode(error) && setCodeRequired(true),
  })
  const mutation = { ...signIn, error: wantsCode(signIn.error) ? undefined : signIn.error }
  const below = codeRequired ? (
    'Enter the code from your authenticator app, or a recovery code.'
  ) : (
    <>
      Don't have an account? <Link to="/sign-up">Sign up</Link>
    </>
  )
  return (
    <SignedOutPage title="Sign in" below={below}>
      <Form mutation={mutation} submit="Sign in">
        <Email value={email} onChange={setEmail} />
        <Field
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
        />
        {codeRequired && (
          <Field
            label="One-time code"
            autoComplete="one-time-code"
            value={code}
            onChange={setCode}
            autoFocus
          />
        )}
      </Form>
    </SignedOutPage>
  )
}
