import type { Agent, ExternalAgent } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Avatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Json, JsonButton } from '../../shared/json.tsx'
import { manage } from '../../shared/manage.ts'
import { Facts, Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { AgentState } from './agent-list.tsx'
import { AgentTools, ExternalTools } from './agent-tools.tsx'
import { Answering } from './answering.tsx'
import { type AnyAgent, useAgent, useAgentsChanged } from './data.ts'
import { ExternalForm } from './external-form.tsx'
import { History } from './history.tsx'
import { Instructions } from './instructions.tsx'
import { Knowledge } from './knowledge.tsx'
import { ModelForm } from './model-form.tsx'
import { ProfileForm } from './profile-form.tsx'
import { AgentRatings } from './ratings.tsx'
import { AgentRuns } from './runs.tsx'
import { ServiceTools } from './service-tools.tsx'
import './agents.css'

const route = getRouteApi('/apps/$appId/agents/$uid')

export function AgentPage() {
  const { uid } = route.useParams()
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useAgent(uid)
  if (!query.data) {
    return (
      <Page title="Agent">
        {query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  const one = query.data
  const { name, icon } = one.agent
  const tabs = one.kind === 'built' ? builtTabs(one.agent) : externalTabs(one.agent)
  return (
    <Page
      key={uid}
      title={name}
      heading={
        <span className="named-avatar">
          <Avatar id={uid} name={name} url={icon} />
          <span dir="auto">{name}</span>
        </span>
      }
      description={
        <>
          <code>{uid}</code> <AgentState of={one} />
        </>
      }
      actions={<Actions one={one} />}
    >
      <Tabs
        label="Agent details"
        tabs={tabs}
        open={tabs.find(({ id }) => id === tab)?.id ?? tabs[0]?.id ?? ''}
        onOpen={(id) => void navigate({ search: { tab: id }, replace: true })}
      />
    </Page>
  )
}

const builtTabs = (agent: Agent) => [
  { id: 'instructions', name: 'Instructions', content: <Instructions agent={agent} /> },
  { id: 'model', name: 'Model', content: <ModelForm agent={agent} /> },
  {
    id: 'tools',
    name: 'Tools',
    content: (
      <div className="stack">
        <AgentTools agent={agent} />
        <ServiceTools agent={agent} />
      </div>
    ),
  },
  { id: 'knowledge', name: 'Knowledge', content: <Knowledge agent={agent} /> },
  { id: 'answers', name: 'Answers', content: <Answering one={{ kind: 'built', agent }} /> },
  { id: 'runs', name: 'Runs', content: <AgentRuns agentUid={agent.uid} /> },
  { id: 'ratings', name: 'Ratings', content: <AgentRatings agentUid={agent.uid} /> },
  { id: 'history', name: 'History', content: <History agentUid={agent.uid} /> },
  { id: 'details', name: 'Details', content: <Details agent={agent} /> },
]

const externalTabs = (agent: ExternalAgent) => [
  {
    id: 'connection',
    name: 'Connection',
    content: (
      <Panel title="Connection" about="Where Loquat calls this agent. It runs on your server.">
        <ExternalForm agent={agent} />
      </Panel>
    ),
  },
  { id: 'tools', name: 'Tools', content: <ExternalTools agent={agent} /> },
  { id: 'answers', name: 'Answers', content: <Answering one={{ kind: 'external', agent }} /> },
  { id: 'ratings', name: 'Ratings', content: <AgentRatings agentUid={agent.uid} /> },
  { id: 'history', name: 'History', content: <History agentUid={agent.uid} /> },
  { id: 'details', name: 'Details', content: <Details agent={agent} /> },
]

function Actions({ one }: { one: AnyAgent }) {
  const { appId, uid } = route.useParams()
  const navigate = route.useNavigate()
  const changed = useAgentsChanged()
  const { agents, externalAgents } = manage.app(appId)
  const { name, isActive } = one.agent
  const toggle = useMutation({
    mutationFn: () =>
      one.kind === 'built'
        ? agents.update(uid, { isActive: !isActive })
        : externalAgents.update(uid, { isActive: !isActive }),
    onSuccess: async () => {
      await changed()
      toast(isActive ? `${name} answers no more questions` : `${name} answers again`)
    },
  })
  return (
    <>
      <Problem error={toggle.error} />
      <Link
        className="button"
        to="/apps/$appId/conversations"
        params={{ appId }}
        search={{ onBehalfOf: uid }}
      >
        View conversations
      </Link>
      <JsonButton value={one.agent} title={`Agent ${uid}`} />
      {one.kind === 'built' && (
        <Dialog title="Edit profile" trigger={<Button icon="edit">Edit profile</Button>}>
          {(close) => <ProfileForm agent={one.agent} onDone={close} />}
        </Dialog>
      )}
      <Button isDisabled={toggle.isPending} onPress={() => toggle.mutate()}>
        {isActive ? 'Pause' : 'Resume'}
      </Button>
      <ConfirmByName
        what="Delete agent"
        name={name}
        about="Nobody can write to it any more. Conversations with it stay."
        act={async () => {
          await (one.kind === 'built' ? agents.delete(uid) : externalAgents.delete(uid))
          await navigate({ to: '/apps/$appId/agents', params: { appId } })
          await changed()
          toast(`Deleted ${name}`)
        }}
      />
    </>
  )
}

const secondsOf = (time: number | string) =>
  Math.floor((typeof time === 'string' ? Date.parse(time) : time) / 1000)

const Details = ({ agent }: { agent: Agent | ExternalAgent }) => (
  <div className="stack">
    <Panel>
      <Facts
        facts={{
          UID: <code>{agent.uid}</code>,
          Name: <span dir="auto">{agent.name}</span>,
          Description: 'description' in agent && agent.description ? agent.description : undefined,
          Created: <Time at={secondsOf(agent.createdAt)} />,
          Updated: <Time at={secondsOf(agent.updatedAt)} />,
        }}
      />
    </Panel>
    <Panel title="Metadata" about="What users see of the agent besides its name and picture.">
      {Object.keys(agent.metaData).length > 0 ? (
        <Json value={agent.metaData} label="Metadata" />
      ) : (
        <p className="soft">No metadata.</p>
      )}
    </Panel>
  </div>
)
