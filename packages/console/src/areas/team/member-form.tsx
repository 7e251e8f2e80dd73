import { LoquatError, type management } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { CodeBlock } from '../../shared/copyable.tsx'
import { ShownOnce } from '../../shared/dialog.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

export type Member = management.ListCollaboratorsItem

const ROLES = {
  admin: 'Admin: everything but the end of the app',
  developer: 'Developer: data, keys, webhooks',
  moderator: 'Moderator: users, groups, messages',
} as const
type Role = keyof typeof ROLES
const LISTS = { admin: 'admins', developer: 'developers', moderator: 'moderators' } as const

/** Gives somebody a role. Each address has an outcome of its own: what failed is thrown. */
function useRole(email: string, role: Role) {
  const appId = useAppId()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      const changes: management.ChangeCollaboratorsBody = { [LISTS[role]]: [email] }
      const answer = await manage.collaborators.change(appId, changes)
      const outcome = Object.values(answer[LISTS[role]])[0]
      if (outcome?.error) throw new LoquatError(outcome.error)
      return outcome
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: appKey(appId, 'team') }),
  })
}

/** Whoever has no account yet gets a link, which stands there until it was taken. */
function RoleForm(props: {
  email: string
  /** Chosen until another is. */
  first: Role
  submit: string
  /** Tells what was done. */
  done: (role: Role) => string
  onDone: () => void
  children?: ReactNode
}) {
  const { email, submit, done, onDone, children } = props
  const [role, setRole] = useState(props.first)
  const change = useRole(email, role)
  const token = change.data?.invitation
  if (token !== undefined) return <Invitation email={email} token={token} onDone={onDone} />
  const sends = {
    ...change,
    mutate: () =>
      change.mutate(undefined, {
        onSuccess: (outcome) => {
          if (outcome?.invitation !== undefined) return
          toast(done(role))
          onDone()
        },
      }),
  }
  return (
    <Form sends={sends} submit={submit}>
      {children}
      <Choice label="Role" value={role} options={ROLES} onChange={setRole} />
    </Form>
  )
}

export function AddMember({ onDone }: { onDone: () => void }) {
  const [email, setEmail] = useState('')
  return (
    <RoleForm
      email={email}
      first="developer"
      submit="Add"
      done={() => `Added ${email}`}
      onDone={onDone}
    >
      <Field
        label="E-mail"
        hint="Whoever has no account gets an invitation, which you hand over."
        type="email"
        value={email}
        onChange={setEmail}
        autoFocus
      />
    </RoleForm>
  )
}

export function ChangeRole(props: { member: Member; role: Role; onDone: () => void }) {
  const { role, onDone } = props
  const { email, state } = props.member
  return (
    <RoleForm
      email={email}
      first={role}
      submit="Save"
      done={(now) => `${email} is ${now} now`}
      onDone={onDone}
    >
      {state === 'invited' && (
        <p>A new link is made, for the role that you choose. The one before works no more.</p>
      )}
    </RoleForm>
  )
}

/** No mail is sent: the link is handed over by whoever invites. */
function Invitation(props: { email: string; token: string; onDone: () => void }) {
  const { email, token, onDone } = props
  const search = new URLSearchParams({ email, invitation: token })
  const link = `${location.origin}${location.pathname}#/sign-up?${search}`
  return (
    <ShownOnce onDone={onDone}>
      <p>
        {email} has no account yet. Hand over this link: it is shown now and never again, and lets
        them make an account that is part of this team.
      </p>
      <CodeBlock label="Link" code={link} />
    </ShownOnce>
  )
}
