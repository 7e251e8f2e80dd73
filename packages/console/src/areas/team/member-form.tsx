import { LoquatError, type management } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { CodeBlock } from '../../shared/copyable.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

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

export function AddMember({ onDone }: { onDone: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const add = useRole(email, role)
  const token = add.data?.invitation
  if (token !== undefined) {
    return <Invitation email={email} token={token} onDone={onDone} />
  }
  const sends = {
    ...add,
    mutate: () =>
      add.mutate(undefined, {
        onSuccess: (outcome) => {
          if (outcome?.invitation !== undefined) return
          toast(`Added ${email}`)
          onDone()
        },
      }),
  }
  return (
    <Form sends={sends} submit="Add">
      <Field
        label="E-mail"
        hint="Whoever has no account gets an invitation, which you hand over."
        type="email"
        value={email}
        onChange={setEmail}
        autoFocus
      />
      <Choice label="Role" value={role} options={ROLES} onChange={setRole} />
    </Form>
  )
}

/** No mail is sent: the link is handed over by whoever invites. */
function Invitation(props: { email: string; token: string; onDone: () => void }) {
  const { email, token, onDone } = props
  const search = new URLSearchParams({ email, invitation: token })
  const link = `${location.origin}${location.pathname}#/sign-up?${search}`
  return (
    <div className="stack">
      <p>
        {email} has no account yet. Hand over this link: it is shown now and never again, and lets
        them make an account that is part of this team.
      </p>
      <CodeBlock label="Link" code={link} />
      <div className="form-end">
        <Button look="main" onPress={onDone}>
          Done
        </Button>
      </div>
    </div>
  )
}

export function ChangeRole(props: { email: string; role: Role; onDone: () => void }) {
  const { email, onDone } = props
  const [role, setRole] = useState(props.role)
  const change = useRole(email, role)
  const sends = {
    ...change,
    mutate: () =>
      change.mutate(undefined, {
        onSuccess: () => {
          toast(`${email} is ${role} now`)
          onDone()
        },
      }),
  }
  return (
    <Form sends={sends} submit="Save">
      <Choice label="Role" value={role} options={ROLES} onChange={setRole} />
    </Form>
  )
}
