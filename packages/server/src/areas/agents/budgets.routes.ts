import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { getAgentBudgets, updateAgentBudgets } from './budgets.actions.ts'
import { AgentBudgetChanges, AgentBudgets } from './budgets.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['agent_budgets']

export const agentBudgetRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/ai-agents/budgets',
      {
        config: access,
        schema: {
          operationId: 'getAgentBudgets',
          tags,
          summary: 'Get what agents may spend, and what they have spent',
          response: { 200: Data(AgentBudgets) },
        },
      },
      async ({ actor: { app: own } }) => ({ data: await getAgentBudgets(own.cell.db, own.no) }),
    )

    app.put(
      '/ai-agents/budgets',
      {
        config: access,
        schema: {
          operationId: 'updateAgentBudgets',
          tags,
          summary: 'Limit what agents may spend',
          description:
            'Limits that you leave out stay, and null removes one. With a limit of money, models need prices.',
          body: AgentBudgetChanges,
          response: { 200: Data(AgentBudgets) },
        },
      },
      async ({ actor, body }) => ({ data: await updateAgentBudgets(deps, actor, body) }),
    )
  }
