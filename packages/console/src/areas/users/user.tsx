import type { User } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Avatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Json, JsonButton } from '../../shared/json.tsx'
import { appKey, manage, useApp } from '../../shared/manage.ts'
import { Facts, Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { SafeLink } from '../../shared/safe-link.tsx'
import { Tags } from '../../shared/status.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { Explain } from '../roles/explain.tsx'
import { Erasure } from './erasure.tsx'
import { UserForm } from './form.tsx'
import { BlockedUsers, Friends, JoinedGroups, Tokens } from './relations.tsx'
import { UserStatus } from './status.tsx'

const route = getRouteApi('/apps/$appId/users/$uid')

/** Only lists return deactivated users. `get` is called for the error if there is no such user. */
async function readUser(appId: string, uid: string): Promise<User> {
  const { users } = manage.app(appId)
  const { data } = await users.list({ uids: [uid], withDeactivated: true, withTags: true })
  return data[0] ?? users.get(uid)
}

export function UserPage() {
  const { appId, uid } = route.useParams()
  const { tab = 'profile' } = route.useSearch()
  const navigate = route.useNavigate()
  const { role } = useApp()
  const mayErase = role === 'owner' || role === 'admin'
  const query = useQuery({
    queryKey: appKey(appId, 'users', 'one', uid),
    queryFn: () => readUser(appId, uid),
  })
  if (!query.data) {
    return (
      <Page title={uid}>
        {query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />}
        {query.error && mayErase && <Erasure uid={uid} />}
      </Page>
    )
  }
  const user = query.data
  const relations = [
    { id: 'groups', name: 'Groups', content: <JoinedGroups uid={uid} /> },
    { id: 'friends', name: 'Friends', content: <Friends uid={uid} /> },
    { id: 'blocked', name: 'Blocked', content: <BlockedUsers uid={uid} /> },
  ]
  const tokens = { id: 'tokens', name: 'Auth tokens', content: <Tokens uid={uid} /> }
  const tabs = [
    { id: 'profile', name: 'Profile', content: <Profile user={user} /> },
    ...(user.deactivatedAt ? [] : relations),
    ...(user.deactivatedAt || role === 'moderator' ? [] : [tokens]),
    ...(mayErase
      ? [{ id: 'erasure', name: 'Erasure', content: <Erasure uid={uid} name={user.name} /> }]
      : []),
  ]
  return (
    <Page
      title={user.name}
      heading={
        <span className="named-avatar">
          <Avatar id={user.uid} name={user.name} url={user.avatar} />
          <span dir="auto">{user.name}</span>
        </span>
      }
      description={
        <>
          <code>{user.uid}</code> <UserStatus user={user} />
        </>
      }
      actions={<Actions user={user} />}
    >
      <Tabs
        label="User details"
        tabs={tabs}
        open={tabs.some(({ id }) => id === tab) ? tab : 'profile'}
        onOpen={(id) =>
          void navigate({ search: id === 'profile' ? {} : { tab: id }, replace: true })
        }
      />
    </Page>
  )
}

function Actions({ user }: { user: User }) {
  const { appId } = route.useParams()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const { users } = manage.app(appId)
  const changed = () => queries.invalidateQueries({ queryKey: appKey(appId, 'users') })
  const deactivated = user.deactivatedAt !== undefined
  const reactivate = useMutation({
    mutationFn: () => users.reactivate({ uidsToActivate: [user.uid] }),
    onSuccess: async () => {
      await changed()
      toast(`Reactivated ${user.name}`)
    },
  })
  return (
    <>
      <Problem error={reactivate.error} />
      {!deactivated && (
        <Link
          className="button"
          to="/apps/$appId/conversations"
          params={{ appId }}
          search={{ onBehalfOf: user.uid }}
        >
          View conversations
        </Link>
      )}
      {!deactivated && <Explain uid={user.uid} trigger={<Button>Why can't this user…?</Button>} />}
      <JsonButton value={user} title={`User ${user.uid}`} />
      {!deactivated && (
        <Dialog title="Edit user" trigger={<Button icon="edit">Edit</Button>}>
          {(close) => <UserForm user={user} onDone={close} />}
        </Dialog>
      )}
      {deactivated ? (
        <Button isDisabled={reactivate.isPending} onPress={() => reactivate.mutate()}>
          Reactivate
        </Button>
      ) : (
        <ConfirmByName
          what="Deactivate user"
          name={user.name}
          about="This signs the user out on all devices and revokes their auth tokens. The profile is kept, and you can reactivate the user later."
          trigger={<Button>Deactivate</Button>}
          act={async () => {
            await users.deactivate({ uidsToDeactivate: [user.uid] })
            await changed()
            toast(`Deactivated ${user.name}`)
          }}
        />
      )}
      <ConfirmByName
        what="Delete user"
        name={user.name}
        about="This permanently deletes the user's profile, memberships, auth tokens, friends, and blocks."
        act={async () => {
          await users.delete(user.uid, { permanent: true })
          await navigate({ to: '/apps/$appId/users', params: { appId } })
          await changed()
          toast(`Deleted ${user.name}`)
        }}
      />
    </>
  )
}

function RoleLink({ role }: { role: string }) {
  const { appId } = route.useParams()
  return (
    <Link to="/apps/$appId/roles/$role" params={{ appId, role }}>
      {role}
    </Link>
  )
}

const Profile = ({ user }: { user: User }) => (
  <div className="stack">
    <Panel>
      <Facts
        facts={{
          UID: <code>{user.uid}</code>,
          Name: <span dir="auto">{user.name}</span>,
          Role: <RoleLink role={user.role} />,
          'Status message': user.statusMessage && <span dir="auto">{user.statusMessage}</span>,
          Avatar: user.avatar && <SafeLink href={user.avatar} />,
          Link: user.link && <SafeLink href={user.link} />,
          Tags: user.tags?.length ? <Tags tags={user.tags} /> : undefined,
          Created: <Time at={user.createdAt} />,
          Updated: user.updatedAt && <Time at={user.updatedAt} />,
          'Last active': user.lastActiveAt && <Time at={user.lastActiveAt} />,
          Deactivated: user.deactivatedAt && <Time at={user.deactivatedAt} />,
        }}
      />
    </Panel>
    <Panel title="Metadata">
      {user.metadata ? (
        <Json value={user.metadata} label="Metadata" />
      ) : (
        <p className="soft">No metadata.</p>
      )}
    </Panel>
  </div>
)
