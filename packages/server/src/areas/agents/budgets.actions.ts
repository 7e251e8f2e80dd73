import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { startEmbedding } from '../models/embeddings.actions.ts'
import {
  type AgentBudgetChanges,
  type AgentBudgets,
  LIMITS,
  type LimitName,
} from './budgets.schema.ts'
import { lockAgents } from './queries.ts'

type Limits = Record<LimitName, number | null>

const findBudgets = query<
  { appNo: number },
  { limits: Limits | null; spent: AgentBudgets['spentThisMonth'] }
>(
  'agents.findBudgets',
  `select (select json_build_object('runTokens', run_tokens, 'runMoney', run_money, 'userDayTokens', user_day_tokens,
       'userDayMoney', user_day_money, 'appMonthTokens', app_month_tokens, 'appMonthMoney', app_month_money,
       'userDayCalls', user_day_calls, 'appMonthCalls', app_month_calls)
     from agent_budgets where app_no = :appNo) as limits,
     json_build_object('tokens', coalesce(sum(tokens), 0), 'money', coalesce(sum(money), 0),
       'calls', coalesce(sum(calls), 0), 'replayTokens', coalesce(sum(replay_tokens), 0),
       'replayMoney', coalesce(sum(replay_money), 0)) as spent
   from agent_spending
   where app_no = :appNo and uid = '' and period = date_trunc('month', now() at time zone 'utc')::date`,
)

const storeBudgets = query<{ appNo: number } & Limits>(
  'agents.storeBudgets',
  `insert into agent_budgets (app_no, run_tokens, run_money, user_day_tokens, user_day_money, app_month_tokens,
     app_month_money, user_day_calls, app_month_calls)
   values (:appNo, :runTokens, :runMoney, :userDayTokens, :userDayMoney, :appMonthTokens, :appMonthMoney,
     :userDayCalls, :appMonthCalls)
   on conflict (app_no) do update set run_tokens = excluded.run_tokens, run_money = excluded.run_money,
     user_day_tokens = excluded.user_day_tokens, user_day_money = excluded.user_day_money,
     app_month_tokens = excluded.app_month_tokens, app_month_money = excluded.app_month_money,
     user_day_calls = excluded.user_day_calls, app_month_calls = excluded.app_month_calls`,
)

export async function getAgentBudgets(db: Executor, appNo: number): Promise<AgentBudgets> {
  const { limits, spent } = await findBudgets.one(db, { appNo })
  const set = Object.entries(limits ?? {}).filter(([, limit]) => limit !== null)
  return { ...Object.fromEntries(set), spentThisMonth: spent }
}

export function updateAgentBudgets(
  deps: Deps,
  actor: Actor,
  changes: AgentBudgetChanges,
): Promise<AgentBudgets> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockAgents.run(tx, { appNo })
    const before: AgentBudgets = await getAgentBudgets(tx, appNo)
    const merged: AgentBudgetChanges = { ...before, ...changes }
    const limits = Object.fromEntries(LIMITS.map((name) => [name, merged[name] ?? null])) as Limits
    await storeBudgets.run(tx, { appNo, ...limits })
    // Sources may wait for tokens.
    if (isRaised(before.appMonthTokens, limits.appMonthTokens)) await startEmbedding(tx, appNo)
    return getAgentBudgets(tx, appNo)
  })
}

/** Null: there is no limit any more. */
const isRaised = (before: number | undefined, limit: number | null) =>
  before !== undefined && (limit === null || limit > before)
