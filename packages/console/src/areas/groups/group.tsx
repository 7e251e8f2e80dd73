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

const route = getRouteApi('/apps/$appId/groups/$guid')

export function GroupPage() {
  const { appId, guid } = route.useParams()
  const { tab = 'members' } = route.useSearch()
  const navigate = route.useNavigate()
  const group = useQuery({
    queryKey: appKey(appId, 'groups', 'one', guid),
    queryFn: () => manage.app(appId).groups.get(guid),
  })
  if (!group.data) {
    return (
      <Page title={guid}>
        {group.error ? <Problem error={group.error} retry={group.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  const of = group.data
  const tabs = [
    { id: 'members', name: 'Members', content: <Members of={of} /> },
    { id: 'bans', name: 'Bans', content: <Bans of={of} /> },
    { id: 'profile', name: 'Profile', content: <Profile of={of} /> },
  ]
  return (
    <Page
      title={of.name}
      heading={
        <span className="named-avatar">
          <Avatar square id={of.guid} name={of.name} url={of.icon} />
          <span dir="auto">{of.name}</span>
        </span>
      }
      description={
        <>
          <code>{of.guid}</code> <Status>{GROUP_TYPES[of.type]}</Status>{' '}
          {of.membersCount.toLocaleString('en')} {of.membersCount === 1 ? 'member' : 'members'}
        </>
      }
      actions={<Actions of={of} />}
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

function Actions({ of }: { of: Group }) {
  const { appId } = route.useParams()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  return (
    <>
      <Link
        className="button"
        to="/apps/$appId/conversations"
        params={{ appId }}
        search={{ open: of.conversationId }}
      >
        View messages
      </Link>
      <JsonButton value={of} of={`Group ${of.guid}`} />
      <Dialog title="Edit group" trigger={<Button icon="edit">Edit</Button>}>
        {(close) => <GroupForm of={of} onDone={close} />}
      </Dialog>
      <ConfirmByName
        what="Delete group"
        name={of.name}
        about="This permanently deletes the group with its members, bans, and messages."
        act={async () => {
          await manage.app(appId).groups.delete(of.guid)
          await navigate({ to: '/apps/$appId/groups', params: { appId } })
          await queries.invalidateQueries({ queryKey: appKey(appId, 'groups') })
          toast(`Deleted ${of.name}`)
        }}
      />
    </>
  )
}

function Profile({ of }: { of: Group }) {
  const { appId } = route.useParams()
  const owner =
    of.owner === 'app_system' ? (
      'The app'
    ) : (
      <Link to="/apps/$appId/users/$uid" params={{ appId, uid: of.owner }}>
        <code>{of.owner}</code>
      </Link>
    )
  return (
    <div className="stack">
      <Panel>
        <Facts
          of={{
            GUID: <code>{of.guid}</code>,
            Name: <span dir="auto">{of.name}</span>,
            Description: of.description && <span dir="auto">{of.description}</span>,
            Type: GROUP_TYPES[of.type],
            Owner: owner,
            Icon: of.icon && <SafeLink href={of.icon} />,
            Tags: of.tags?.length ? <Tags of={of.tags} /> : undefined,
            Created: <Time at={of.createdAt} />,
            Updated: of.updatedAt && <Time at={of.updatedAt} />,
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
}
