import type { Group } from '@loquat/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Avatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Json, JsonButton } from '../../shared/json.tsx'
import { appKey, manage } from '../../shared/manage.ts'
import { Facts, Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { SafeLink } from '../../shared/safe-link.tsx'
import { Status, Tags } from '../../shared/status.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { GROUP_TYPES } from './filters.ts'
import { GroupForm } from './form.tsx'
import { Bans, Members } from './members.tsx'
import { ScopePermissions } from './permissions.tsx'

const route = getRouteApi('/apps/$appId/groups/$guid')

export function GroupPage() {
  const { appId, guid } = route.useParams()
  const { tab = 'members' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery({
    queryKey: appKey(appId, 'groups', 'one', guid),
    queryFn: () => manage.app(appId).groups.get(guid),
  })
  if (!query.data) {
    return (
      <Page title={guid}>
        {query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  const group = query.data
  const tabs = [
    { id: 'members', name: 'Members', content: <Members group={group} /> },
    { id: 'bans', name: 'Bans', content: <Bans group={group} /> },
    { id: 'permissions', name: 'Permissions', content: <ScopePermissions guid={guid} /> },
    { id: 'profile', name: 'Profile', content: <Profile group={group} /> },
  ]
  return (
    <Page
      title={group.name}
      heading={
        <span className="named-avatar">
          <Avatar square id={group.guid} name={group.name} url={group.icon} />
          <span dir="auto">{group.name}</span>
        </span>
      }
      description={
        <>
          <code>{group.guid}</code> <Status>{GROUP_TYPES[group.type]}</Status>{' '}
          {group.membersCount.toLocaleString('en')}{' '}
          {group.membersCount === 1 ? 'member' : 'members'}
        </>
      }
      actions={<Actions group={group} />}
    >
      <Tabs
        label="Group details"
        tabs={tabs}
        open={tabs.some(({ id }) => id === tab) ? tab : 'members'}
        onOpen={(id) =>
          void navigate({ search: id === 'members' ? {} : { tab: id }, replace: true })
        }
      />
    </Page>
  )
}

function Actions({ group }: { group: Group }) {
  const { appId } = route.useParams()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  return (
    <>
      <Link
        className="button"
        to="/apps/$appId/conversations"
        params={{ appId }}
        search={{ open: group.conversationId }}
      >
        View messages
      </Link>
      <JsonButton value={group} title={`Group ${group.guid}`} />
      <Dialog title="Edit group" trigger={<Button icon="edit">Edit</Button>}>
        {(close) => <GroupForm group={group} onDone={close} />}
      </Dialog>
      <ConfirmByName
        what="Delete group"
        name={group.name}
        about="This permanently deletes the group with its members, bans, and messages."
        act={async () => {
          await manage.app(appId).groups.delete(group.guid)
          await navigate({ to: '/apps/$appId/groups', params: { appId } })
          await queries.invalidateQueries({ queryKey: appKey(appId, 'groups') })
          toast(`Deleted ${group.name}`)
        }}
      />
    </>
  )
}

function Profile({ group }: { group: Group }) {
  const { appId } = route.useParams()
  const owner =
    group.owner === 'app_system' ? (
      'The app'
    ) : (
      <Link to="/apps/$appId/users/$uid" params={{ appId, uid: group.owner }}>
        <code>{group.owner}</code>
      </Link>
    )
  return (
    <div className="stack">
      <Panel>
        <Facts
          facts={{
            GUID: <code>{group.guid}</code>,
            Name: <span dir="auto">{group.name}</span>,
            Description: group.description && <span dir="auto">{group.description}</span>,
            Type: GROUP_TYPES[group.type],
            Owner: owner,
            Icon: group.icon && <SafeLink href={group.icon} />,
            Tags: group.tags?.length ? <Tags tags={group.tags} /> : undefined,
            Created: <Time at={group.createdAt} />,
            Updated: group.updatedAt && <Time at={group.updatedAt} />,
          }}
        />
      </Panel>
      <Panel title="Metadata">
        {group.metadata ? (
          <Json value={group.metadata} label="Metadata" />
        ) : (
          <p className="soft">No metadata.</p>
        )}
      </Panel>
    </div>
  )
}
