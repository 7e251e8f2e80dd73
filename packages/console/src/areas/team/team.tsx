import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Avatar } from '../../shared/avatar.tsx'
import { Button, IconButton } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { appKey, manage, useApp, useAppId, useSession } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { ROLE_NAMES } from '../../shared/roles.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { AddMember, ChangeRole, type Member } from './member-form.tsx'
import './team.css'

/** The operators who manage the app. A team has at most 25 members, so one page shows them all. */
export function Team() {
  const { appId, role } = useApp()
  const team = useQuery({
    queryKey: appKey(appId, 'team'),
    queryFn: () => manage.collaborators.list(appId, { perPage: 100 }),
  })
  const mayChange = role === 'owner' || role === 'admin'
  return (
    <Page
      title="Team"
      description="The people who manage this app. They aren't users of the app."
      actions={
        mayChange && (
          <Dialog
            title="Invite a teammate"
            trigger={
              <Button look="main" icon="plus">
                Invite a teammate
              </Button>
            }
          >
            {(close) => <AddMember onDone={close} />}
          </Dialog>
        )
      }
    >
      {team.isPending && <Skeleton lines={3} />}
      <Problem error={team.error} retry={team.refetch} />
      <ul className="stack">
        {team.data?.data.map((member) => (
          <MemberCard key={member.email} member={member} mayChange={mayChange} />
        ))}
      </ul>
    </Page>
  )
}

function MemberCard({ member, mayChange }: { member: Member; mayChange: boolean }) {
  const { email, name, role, state, createdAt } = member
  const self = useSession().data?.operator.email === email
  return (
    <li className="panel member">
      <Avatar id={email} name={name ?? email} />
      <div>
        <strong className="clip" dir="auto">
          {name ?? email}
        </strong>
        {name !== undefined && <small className="clip">{email}</small>}
      </div>
      <span className="row">
        <Status tone={role === 'owner' ? 'info' : 'plain'}>{ROLE_NAMES[role]}</Status>
        {state === 'invited' && <Status tone="warn">Invited</Status>}
        {self && <Status tone="good">You</Status>}
      </span>
      <span className="soft">
        {state === 'invited' ? 'Invited ' : 'Joined '}
        <Time at={createdAt} />
      </span>
      {mayChange && !self && role !== 'owner' && <MemberActions member={member} role={role} />}
    </li>
  )
}

function MemberActions({
  member,
  role,
}: {
  member: Member
  role: Exclude<Member['role'], 'owner'>
}) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [open, setOpen] = useState(false)
  const { email } = member
  const remove = useMutation({
    mutationFn: () => manage.collaborators.change(appId, { collaboratorsToRemove: [email] }),
  })
  return (
    <span className="row">
      <IconButton icon="edit" label={`Change the role of ${email}`} onPress={() => setOpen(true)} />
      <Dialog title={`Change the role of ${email}`} isOpen={open} onClose={() => setOpen(false)}>
        <ChangeRole member={member} role={role} onDone={() => setOpen(false)} />
      </Dialog>
      <ConfirmByName
        what="Remove from team"
        name={email}
        about="They lose access to this app immediately."
        trigger={<IconButton icon="trash" label={`Remove ${email}`} />}
        act={async () => {
          await remove.mutateAsync()
          await queries.invalidateQueries({ queryKey: appKey(appId, 'team') })
          toast(`Removed ${email} from the team`)
        }}
      />
    </span>
  )
}
