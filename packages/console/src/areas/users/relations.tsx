/** A user's friends, blocked users, groups and auth tokens. */
import type { Group, User } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Copyable } from '../../shared/copyable.tsx'
import { type ColumnOf, DataTable } from '../../shared/data-table.tsx'
import { Empty } from '../../shared/empty.tsx'
import { hrefTo } from '../../shared/links.ts'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { type Records, useRecords } from '../../shared/records.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { UserStatus } from './status.tsx'

const USER_COLUMNS: ColumnOf<User>[] = [
  {
    name: 'User',
    width: '3fr',
    cell: ({ uid, name, avatar }) => <NamedAvatar id={uid} name={name} url={avatar} />,
  },
  { name: 'Status', width: 130, cell: (user) => <UserStatus user={user} /> },
  { name: 'Role', wide: true, cell: ({ role }) => role },
]

function UserTable({ label, list, none }: { label: string; list: Records<User>; none: string }) {
  const appId = useAppId()
  const router = useRouter()
  return (
    <DataTable
      label={label}
      list={list}
      columns={USER_COLUMNS}
      id={({ uid }) => uid}
      text={({ name }) => name}
      href={({ uid }) => hrefTo(router, { to: '/apps/$appId/users/$uid', params: { appId, uid } })}
      empty={<Empty title={none} />}
    />
  )
}

export function Friends({ uid }: { uid: string }) {
  const appId = useAppId()
  const list = useRecords(appKey(appId, 'users', 'friends', uid), (page) =>
    manage.app(appId).friends.list(uid, { perPage: 50, ...page }),
  )
  return <UserTable label="Friends" list={list} none="No friends yet" />
}

export function BlockedUsers({ uid }: { uid: string }) {
  const appId = useAppId()
  const list = useRecords(appKey(appId, 'users', 'blocked', uid), (page) =>
    manage.app(appId).blockedUsers.list(uid, { perPage: 50, ...page }),
  )
  return <UserTable label="Blocked users" list={list} none="No blocked users" />
}

const GROUP_COLUMNS: ColumnOf<Group>[] = [
  {
    name: 'Group',
    width: '3fr',
    cell: ({ guid, name, icon }) => <NamedAvatar square id={guid} name={name} url={icon} />,
  },
  { name: 'Scope', width: 120, cell: ({ scope }) => scope && <Status>{scope}</Status> },
  { name: 'Type', wide: true, width: 120, cell: ({ type }) => type },
  { name: 'Joined', wide: true, width: 140, cell: ({ joinedAt }) => <Time at={joinedAt} /> },
]

export function JoinedGroups({ uid }: { uid: string }) {
  const appId = useAppId()
  const router = useRouter()
  const list = useRecords(appKey(appId, 'groups', 'of', uid), (page) =>
    manage
      .app(appId)
      .onBehalfOf(uid)
      .groups.list({ hasJoined: true, perPage: 50, ...page }),
  )
  return (
    <DataTable
      label="Groups"
      list={list}
      columns={GROUP_COLUMNS}
      id={({ guid }) => guid}
      text={({ name }) => name}
      href={({ guid }) =>
        hrefTo(router, { to: '/apps/$appId/groups/$guid', params: { appId, guid } })
      }
      empty={<Empty title="Not in any groups" />}
    />
  )
}

export function Tokens({ uid }: { uid: string }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { authTokens } = manage.app(appId)
  const queryKey = appKey(appId, 'users', 'tokens', uid)
  const changed = () => queries.invalidateQueries({ queryKey })
  const list = useRecords(queryKey, (page) => authTokens.list(uid, { perPage: 50, ...page }))
  const create = useMutation({
    mutationFn: () => authTokens.create(uid, { force: true }),
    onSuccess: async () => {
      await changed()
      toast('Auth token created')
    },
  })
  return (
    <Panel title="Auth tokens" about="A device with one of these tokens is signed in as this user.">
      <Problem error={list.error ?? create.error} retry={list.error ? list.retry : undefined} />
      {list.isPending && <Skeleton lines={2} />}
      {!list.isPending && list.rows.length === 0 && (
        <p className="soft">No auth tokens. This user can't connect.</p>
      )}
      {list.rows.map(({ authToken, platform, createdAt }) => (
        <div key={authToken}>
          <Copyable label={platform ?? 'Token'} value={authToken} />
          <small className="soft">
            Created <Time at={createdAt} />
          </small>
        </div>
      ))}
      <div className="form-end">
        {list.more && <Button onPress={list.loadMore}>Load more</Button>}
        <Button isDisabled={create.isPending} onPress={() => create.mutate()}>
          Create auth token
        </Button>
        {list.rows.length > 0 && (
          <ConfirmByName
            what="Revoke all auth tokens"
            name={uid}
            about="This signs the user out on all devices."
            act={async () => {
              await authTokens.flush(uid)
              await changed()
              toast('All auth tokens revoked')
            }}
          />
        )}
      </div>
    </Panel>
  )
}
