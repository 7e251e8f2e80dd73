import { type Static, Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'

const Tokens = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description })
const Money = (description: string) =>
  Type.Number({ minimum: 0, maximum: 1_000_000_000, description })

const Calls = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000_000, description })

const limits = {
  runTokens: Tokens('Tokens of one run, read and written.'),
  runMoney: Money('Money for one run, by the prices of the providers.'),
  userDayTokens: Tokens('Tokens for the questions of one user on one day (UTC).'),
  userDayMoney: Money('Money for the questions of one user on one day (UTC).'),
  appMonthTokens: Tokens(
    'Tokens of the app in one month (UTC), with those that embed its knowledge and searches in it.',
  ),
  appMonthMoney: Money('Money of the app in one month (UTC).'),
  userDayCalls: Calls('Calls of external agents for the questions of one user on one day (UTC).'),
  appMonthCalls: Calls('Calls of external agents in one month (UTC).'),
}
export type LimitName = keyof typeof limits
export const LIMITS = Object.keys(limits) as LimitName[]

const Spent = (description: string) =>
  Type.Object(
    {
      tokens: Type.Integer(),
      money: Type.Number(),
      calls: Type.Integer({ description: 'Of external agents.' }),
      replayTokens: Type.Integer({ description: 'How many of the tokens were for live replays.' }),
      replayMoney: Type.Number({ description: 'How much of the money was for live replays.' }),
    },
    { additionalProperties: false, description },
  )

export const AgentBudgets = Type.Object(
  {
    ...Type.Partial(Type.Object(limits)).properties,
    spentThisMonth: Spent('What the app has spent in this month, with what is reserved now.'),
  },
  { additionalProperties: false, 'x-component': 'AgentBudgets' },
)
export type AgentBudgets = Static<typeof AgentBudgets>

export const AgentBudgetChanges = Type.Partial(
  Type.Object(
    Object.fromEntries(LIMITS.map((name) => [name, Nullable(limits[name])])) as {
      [Name in LimitName]: ReturnType<typeof Nullable<(typeof limits)[Name]>>
    },
  ),
  { 'x-component': 'AgentBudgetChanges' },
)
export type AgentBudgetChanges = Static<typeof AgentBudgetChanges>
