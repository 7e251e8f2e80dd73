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
  const user = useQuery({
    queryKey: appKey(appId, 'users', 'one', uid),
    queryFn: () => readUser(appId, uid),
  })
  if (!user.data) {
    return (
      <Page title={uid}>
        {user.error ? <Problem error={user.error} retry={user.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  const of = user.data
  const relations = [
    { id: 'groups', name: 'Groups', content: <JoinedGroups uid={uid} /> },
    { id: 'friends', name: 'Friends', content: <Friends uid={uid} /> },
    { id: 'blocked', name: 'Blocked', content: <BlockedUsers uid={uid} /> },
  ]
  const tokens = { id: 'tokens', name: 'Auth tokens', content: <Tokens uid={uid} /> }
  const tabs = [
    { id: 'profile', name: 'Profile', content: <Profile of={of} /> },
    ...(of.deactivatedAt ? [] : relations),
    ...(of.deactivatedAt || role === 'moderator' ? [] : [tokens]),
  ]
  return (
    <Page
      title={of.name}
      heading={
        <span className="named-avatar">
          <Avatar id={of.uid} name={of.name} url={of.avatar} />
          <span dir="auto">{of.name}</span>
        </span>
      }
      description={
        <>
          <code>{of.uid}</code> <UserStatus of={of} />
        </>
      }
      actions={<Actions of={of} />}
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

function Actions({ of }: { of: User }) {
  const { appId } = route.useParams()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const { users } = manage.app(appId)
  const changed = () => queries.invalidateQueries({ queryKey: appKey(appId, 'users') })
  const deactivated = of.deactivatedAt !== undefined
  const reactivate = useMutation({
    mutationFn: () => users.reactivate({ uidsToActivate: [of.uid] }),
    onSuccess: async () => {
      await changed()
      toast(`Reactivated ${of.name}`)
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
          search={{ onBehalfOf: of.uid }}
        >
          View conversations
        </Link>
      )}
      <JsonButton value={of} of={`User ${of.uid}`} />
      {!deactivated && (
        <Dialog title="Edit user" trigger={<Button icon="edit">Edit</Button>}>
          {(close) => <UserForm of={of} onDone={close} />}
        </Dialog>
      )}
      {deactivated ? (
        <Button isDisabled={reactivate.isPending} onPress={() => reactivate.mutate()}>
          Reactivate
        </Button>
      ) : (
        <ConfirmByName
          what="Deactivate user"
          name={of.name}
          about="This signs the user out on all devices and revokes their auth tokens. The profile is kept, and you can reactivate the user later."
          trigger={<Button>Deactivate</Button>}
          act={async () => {
            await users.deactivate({ uidsToDeactivate: [of.uid] })
            await changed()
            toast(`Deactivated ${of.name}`)
          }}
        />
      )}
      <ConfirmByName
        what="Delete user"
        name={of.name}
        about="This permanently deletes the user's profile, memberships, auth tokens, friends, and blocks."
        act={async () => {
          await users.delete(of.uid, { permanent: true })
          await navigate({ to: '/apps/$appId/users', params: { appId } })
          await changed()
          toast(`Deleted ${of.name}`)
        }}
      />
    </>
  )
}

const Profile = ({ of }: { of: User }) => (
  <div className="stack">
    <Panel>
      <Facts
        of={{
          UID: <code>{of.uid}</code>,
          Name: <span dir="auto">{of.name}</span>,
          Role: of.role,
          'Status message': of.statusMessage && <span dir="auto">{of.statusMessage}</span>,
          Avatar: of.avatar && <SafeLink href={of.avatar} />,
          Link: of.link && <SafeLink href={of.link} />,
          Tags: of.tags?.length ? <Tags of={of.tags} /> : undefined,
          Created: <Time at={of.createdAt} />,
          Updated: of.updatedAt && <Time at={of.updatedAt} />,
          'Last active': of.lastActiveAt && <Time at={of.lastActiveAt} />,
          Deactivated: of.deactivatedAt && <Time at={of.deactivatedAt} />,
        }}
      />
    </Panel>
    <Panel title="Metadata">
      {of.metadata ? (
        <Json value={of.metadata} label="Metadata" />
      ) : (
        <p className="soft">No metadata.</p>
      )}
    </Panel>
  </div>
)
