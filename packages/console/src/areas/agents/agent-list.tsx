import { useRouter } from '@tanstack/react-router'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { useCurl } from '../../shared/curl.ts'
import { type ColumnOf, DataTable } from '../../shared/data-table.tsx'
import { Empty } from '../../shared/empty.tsx'
import { hrefTo } from '../../shared/links.ts'
import { useAppId } from '../../shared/manage.ts'
import { wholeList } from '../../shared/records.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { type AnyAgent, useAgents } from './data.ts'

const COLUMNS: ColumnOf<AnyAgent>[] = [
  {
    name: 'Agent',
    width: '3fr',
    cell: ({ agent: { uid, name, icon } }) => <NamedAvatar id={uid} name={name} url={icon} />,
  },
  { name: 'State', cell: (one) => <AgentState of={one} />, width: 120, narrow: 100 },
  {
    name: 'Model',
    width: '2fr',
    cell: (one) => <code className="clip">{modelOf(one)}</code>,
    wide: true,
  },
  { name: 'Tools', cell: toolCount, end: true, wide: true, width: 90 },
  {
    name: 'Last answer',
    cell: (one) =>
      one.kind === 'built' &&
      one.agent.lastMessageAt !== undefined && (
        <Time at={Math.floor(one.agent.lastMessageAt / 1000)} />
      ),
    wide: true,
    width: 140,
  },
]

const modelOf = (one: AnyAgent) =>
  one.kind === 'built' ? one.agent.model : one.agent.integrateWith

function toolCount(one: AnyAgent): string {
  const { agent } = one
  const all =
    one.kind === 'built'
      ? [one.agent.apiTools, one.agent.mcpServers, one.agent.frontendActions]
      : [one.agent.actions]
  const count = [agent.tools, ...all].flat().length
  return count === 0 ? '' : String(count)
}

/** Agents that run here, and those that run elsewhere. */
export function AgentList() {
  const appId = useAppId()
  const router = useRouter()
  const agents = useAgents()
  const list = {
    ...wholeList(agents.data ?? []),
    ...{ isPending: agents.isPending, error: agents.error, retry: agents.refetch },
  }
  return (
    <DataTable
      label="Agents"
      list={list}
      columns={COLUMNS}
      id={({ agent }) => agent.uid}
      text={({ agent }) => agent.name}
      href={({ agent: { uid } }) =>
        hrefTo(router, { to: '/apps/$appId/agents/$uid', params: { appId, uid } })
      }
      empty={<NoAgents />}
    />
  )
}

function NoAgents() {
  const curl = useCurl()
  const helper = { name: 'Helper', instruction: 'Answer questions about opening hours.' }
  return (
    <Empty title="No agents yet" curl={curl('/ai-agents/agent-builder/agents', helper)}>
      Add a provider under Models, then create an agent and tell it what to do. It becomes a user of
      this app and answers everybody who writes to it. The button above does this, too.
    </Empty>
  )
}

export function AgentState({ of: one }: { of: AnyAgent }) {
  if (!one.agent.isActive) return <Status>Paused</Status>
  if (one.kind === 'external') return <Status tone="info">External</Status>
  if (!one.agent.providerId) return <Status tone="warn">No model</Status>
  return <Status tone="good">Active</Status>
}
