import { LoquatError, type management } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { CodeBlock } from '../../shared/copyable.tsx'
import { ShownOnce } from '../../shared/dialog.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

export type Member = management.Collaborator

const ROLES = {
  admin: 'Admin: everything except deleting the app',
  developer: 'Developer: data, API keys, and webhooks',
  moderator: 'Moderator: users, groups, and messages',
} as const
type Role = keyof typeof ROLES
const LISTS = { admin: 'admins', developer: 'developers', moderator: 'moderators' } as const

/** Gives the operator with this email a role. */
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

/** Picks a role. If the operator has no account yet, an invitation link replaces the form until it is dismissed. */
function RoleForm(props: {
  email: string
  /** The role selected at first. */
  first: Role
  submit: string
  /** The confirmation to show. */
  done: (role: Role) => string
  onDone: () => void
  children?: ReactNode
}) {
  const { email, submit, done, onDone, children } = props
  const [role, setRole] = useState(props.first)
  const change = useRole(email, role)
  const token = change.data?.invitation
  if (token !== undefined) return <Invitation email={email} token={token} onDone={onDone} />
  const mutation = {
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
    <Form mutation={mutation} submit={submit}>
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
      submit="Invite"
      done={() => `Added ${email} to the team`}
      onDone={onDone}
    >
      <Field
        label="Email"
        hint="If they don't have an account yet, you get an invitation link to send them."
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
      done={(now) => `Changed the role of ${email} to ${now}`}
      onDone={onDone}
    >
      {state === 'invited' && (
        <p>You get a new invitation link for the role you choose. The old link stops working.</p>
      )}
    </RoleForm>
  )
}

/** The invitation link. Loquat sends no email, so the operator passes the link on. */
function Invitation(props: { email: string; token: string; onDone: () => void }) {
  const { email, token, onDone } = props
  const search = new URLSearchParams({ email, invitation: token })
  const link = `${location.origin}${location.pathname}#/sign-up?${search}`
  return (
    <ShownOnce onDone={onDone}>
      <p>
        {email} doesn't have an account yet. Send them this link so that they can create one and
        join the team. You won't be able to see the link again.
      </p>
      <CodeBlock label="Invitation link" code={link} />
    </ShownOnce>
  )
}
