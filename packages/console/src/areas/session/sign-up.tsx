import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Email, NewPassword } from '../../shared/account-fields.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { beginSession, manage } from '../../shared/manage.ts'
import { SignedOutPage } from './signed-out-page.tsx'

/** Creates an account. The installation decides whether that takes an invitation, which an invitation link fills in. */
export function SignUp() {
  const navigate = useNavigate()
  const invited = useSearch({ from: '/sign-up' })
  const [name, setName] = useState('')
  const [email, setEmail] = useState(invited.email ?? '')
  const [password, setPassword] = useState('')
  const [invitation, setInvitation] = useState(invited.invitation ?? '')
  const signUp = useMutation({
    mutationFn: async () => {
      const account = { name, email, password, ...(invitation && { invitation }) }
      await manage.operators.create(account)
      return manage.sessions.create({ email, password })
    },
    onSuccess: async (session) => {
      beginSession(session)
      await navigate({ to: '/' })
    },
  })
  const below = (
    <>
      Already have an account? <Link to="/">Sign in</Link>
    </>
  )
  return (
    <SignedOutPage title="Create your account" below={below}>
      <Form mutation={signUp} submit="Create account">
        <Field label="Your name" autoComplete="name" value={name} onChange={setName} autoFocus />
        <Email value={email} onChange={setEmail} />
        <NewPassword label="Password" value={password} onChange={setPassword} />
        <Field
          label="Invitation"
          hint="Enter your invitation if you have one. Some servers require it."
          required={false}
          autoComplete="off"
          value={invitation}
          onChange={setInvitation}
        />
      </Form>
    </SignedOutPage>
  )
}
