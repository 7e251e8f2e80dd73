/** What several pages read about agents. All keys start with `agents`, so that one call refreshes everything. */
import type { Agent, ExternalAgent } from '@loquat/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { appKey, manage, useAppId } from '../../shared/manage.ts'

/** As many as an app can have. */
const ALL = { limit: 100 } as const

export type AnyAgent = { kind: 'built'; agent: Agent } | { kind: 'external'; agent: ExternalAgent }

/** Refreshes everything about agents. */
export function useAgentsChanged() {
  const appId = useAppId()
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: appKey(appId, 'agents') })
}

export function useAgents() {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'agents', 'list'),
    queryFn: async (): Promise<AnyAgent[]> => {
      const { agents, externalAgents } = manage.app(appId)
      const [built, external] = await Promise.all([agents.list(ALL), externalAgents.list()])
      return [
        ...built.data.map((agent) => ({ kind: 'built' as const, agent })),
        ...external.map((agent) => ({ kind: 'external' as const, agent })),
      ]
    },
  })
}

/** There is no operation that reads one external agent. */
async function readAgent(appId: string, uid: string): Promise<AnyAgent> {
  const { agents, externalAgents } = manage.app(appId)
  const external = (await externalAgents.list()).find((one) => one.uid === uid)
  if (external) return { kind: 'external', agent: external }
  return { kind: 'built', agent: await agents.get(uid) }
}

export function useAgent(uid: string) {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'agents', 'one', uid),
    queryFn: () => readAgent(appId, uid),
  })
}

/** Everything that agents can use, by kind. */
export function useParts() {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'agents', 'parts'),
    queryFn: async () => {
      const { apiTools, mcpServers, frontendActions, agentTools } = manage.app(appId)
      const [api, mcp, actions, tools] = await Promise.all([
        Array.fromAsync(apiTools.all(ALL)),
        Array.fromAsync(mcpServers.all(ALL)),
        Array.fromAsync(frontendActions.all(ALL)),
        agentTools.list(),
      ])
      return { api, mcp, actions, tools }
    },
  })
}

export function useVariables() {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'agents', 'variables'),
    queryFn: () => manage.app(appId).agentVariables.list(),
  })
}
