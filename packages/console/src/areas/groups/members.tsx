/** The members and banned users of a group. */
import type { BannedUser, Group, Member } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { Button, IconButton } from '../../shared/button.tsx'
import { type ColumnOf, DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { hrefTo } from '../../shared/links.ts'
import { listOf } from '../../shared/lists.ts'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Menu, MenuItem } from '../../shared/menu.tsx'
import { Problem } from '../../shared/problem.tsx'
import { useRecords } from '../../shared/records.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { refusedOf } from './refused.ts'
import { SCOPES, type Scope } from './scopes.ts'

/** Changes a group, then shows the text `done`. */
function useAct() {
  const appId = useAppId()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ act }: { act: () => Promise<unknown>; done: string }) => act(),
    onSuccess: async (_data, { done }) => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'groups') })
      toast(done)
    },
  })
}

export function Members({ group }: { group: Group }) {
  const appId = useAppId()
  const router = useRouter()
  const act = useAct()
  const api = manage.app(appId)
  const { guid } = group
  const list = useRecords(appKey(appId, 'groups', 'members', guid), (page) =>
    api.groupMembers.list(guid, { perPage: 50, ...page }),
  )
  const menuOf = ({ uid, name, scope }: Member) => (
    <Menu
      label={`Actions for ${name}`}
      trigger={<IconButton icon="more" label={`More actions for ${name}`} />}
    >
      {[
        ...(Object.keys(SCOPES) as Scope[])
          .filter((other) => other !== scope)
          .map((other) => (
            <MenuItem
              key={other}
              text={`Make ${SCOPES[other].toLowerCase()}`}
              onAction={() =>
                act.mutate({
                  act: () => api.groupMembers.changeScope(guid, uid, { scope: other }),
                  done: `Changed the scope of ${name} to ${SCOPES[other].toLowerCase()}`,
                })
              }
            />
          )),
        <MenuItem
          key="kick"
          danger
          text="Kick"
          about="Can join again"
          onAction={() =>
            act.mutate({ act: () => api.groupMembers.kick(guid, uid), done: `Kicked ${name}` })
          }
        />,
        <MenuItem
          key="ban"
          danger
          text="Ban"
          about="Can't join again until unbanned"
          onAction={() =>
            act.mutate({ act: () => api.bannedUsers.ban(guid, uid), done: `Banned ${name}` })
          }
        />,
      ]}
    </Menu>
  )
  const columns: ColumnOf<Member>[] = [
    {
      name: 'Member',
      width: '3fr',
      cell: ({ uid, name, avatar }) => <NamedAvatar id={uid} name={name} url={avatar} />,
    },
    { name: 'Scope', width: 112, narrow: 102, cell: ({ scope }) => <ScopeStatus scope={scope} /> },
    { name: 'Joined', wide: true, width: 140, cell: ({ joinedAt }) => <Time at={joinedAt} /> },
    { name: 'Actions', width: 84, narrow: 66, end: true, cell: menuOf },
  ]
  return (
    <div className="stack">
      <div className="form-end">
        <Dialog title="Add members" trigger={<Button icon="plus">Add members</Button>}>
          {(close) => <AddMembers guid={guid} onDone={close} />}
        </Dialog>
      </div>
      <Problem error={act.error} />
      <DataTable
        label="Members"
        list={list}
        columns={columns}
        id={({ uid }) => uid}
        text={({ name }) => name}
        href={({ uid }) =>
          hrefTo(router, { to: '/apps/$appId/users/$uid', params: { appId, uid } })
        }
        empty={<Empty title="No members yet">Add users by their UIDs.</Empty>}
      />
    </div>
  )
}

const ScopeStatus = ({ scope }: { scope: Scope }) => (
  <Status tone={scope === 'admin' ? 'warn' : scope === 'moderator' ? 'info' : 'plain'}>
    {SCOPES[scope]}
  </Status>
)

function AddMembers({ guid, onDone }: { guid: string; onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [uids, setUids] = useState('')
  const [scope, setScope] = useState<Scope>('participant')
  const add = useMutation({
    mutationFn: async () => {
      const given = [...new Set(listOf(uids))]
      const answer = await manage.app(appId).groupMembers.add(guid, { [`${scope}s`]: given })
      const refused = refusedOf(answer)
      await queries.invalidateQueries({ queryKey: appKey(appId, 'groups') })
      if (refused.length > 0) throw new SyntaxError(refused.join(' '))
      return given.length
    },
    onSuccess: (count) => {
      onDone()
      toast(count === 1 ? 'Added 1 member' : `Added ${count} members`)
    },
  })
  return (
    <Form mutation={add} submit="Add members">
      <Field
        label="UIDs"
        hint="Up to 25 UIDs, separated by commas."
        mono
        value={uids}
        onChange={setUids}
        autoFocus
      />
      <Choice label="Scope" value={scope} options={SCOPES} onChange={setScope} />
    </Form>
  )
}

export function Bans({ group }: { group: Group }) {
  const appId = useAppId()
  const router = useRouter()
  const act = useAct()
  const { bannedUsers } = manage.app(appId)
  const { guid } = group
  const list = useRecords(appKey(appId, 'groups', 'bans', guid), (page) =>
    bannedUsers.list(guid, { perPage: 50, ...page }),
  )
  const columns: ColumnOf<BannedUser>[] = [
    {
      name: 'User',
      width: '3fr',
      cell: ({ uid, name, avatar }) => <NamedAvatar id={uid} name={name} url={avatar} />,
    },
    { name: 'Banned', wide: true, width: 140, cell: ({ bannedAt }) => <Time at={bannedAt} /> },
    {
      name: 'Actions',
      width: 130,
      end: true,
      cell: ({ uid, name }) => (
        <Button
          onPress={() =>
            act.mutate({ act: () => bannedUsers.unban(guid, uid), done: `Unbanned ${name}` })
          }
        >
          Unban
        </Button>
      ),
    },
  ]
  return (
    <div className="stack">
      <div className="form-end">
        <Dialog title="Ban user" trigger={<Button look="danger">Ban user</Button>}>
          {(close) => <BanUser guid={guid} onDone={close} />}
        </Dialog>
      </div>
      <Problem error={act.error} />
      <DataTable
        label="Banned users"
        list={list}
        columns={columns}
        id={({ uid }) => uid}
        text={({ name }) => name}
        href={({ uid }) =>
          hrefTo(router, { to: '/apps/$appId/users/$uid', params: { appId, uid } })
        }
        empty={
          <Empty title="No banned users">
            Banned users can't join, read, or send messages here.
          </Empty>
        }
      />
    </div>
  )
}

function BanUser({ guid, onDone }: { guid: string; onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [uid, setUid] = useState('')
  const ban = useMutation({
    mutationFn: () => manage.app(appId).bannedUsers.ban(guid, uid.trim()),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'groups') })
      onDone()
      toast(`Banned ${uid}`)
    },
  })
  return (
    <Form mutation={ban} submit="Ban user" look="danger main">
      <Field label="UID" mono value={uid} onChange={setUid} autoFocus />
    </Form>
  )
}
