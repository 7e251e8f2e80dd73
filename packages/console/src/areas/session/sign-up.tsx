import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Email, NewPassword } from '../../shared/account-fields.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { beginSession, manage } from '../../shared/manage.ts'
import { Gate } from './gate.tsx'

/** A new account, of whoever may have one: the installation decides, or the invitation in the link. */
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
      You have an account? <Link to="/">Sign in</Link>
    </>
  )
  return (
    <Gate title="Sign up" below={below}>
      <Form sends={signUp} submit="Create account">
        <Field label="Your name" autoComplete="name" value={name} onChange={setName} autoFocus />
        <Email value={email} onChange={setEmail} />
        <NewPassword label="Password" value={password} onChange={setPassword} />
        <Field
          label="Invitation"
          hint="If somebody gave you one. Some installations ask for it."
          required={false}
          autoComplete="off"
          value={invitation}
          onChange={setInvitation}
        />
      </Form>
    </Gate>
  )
}
