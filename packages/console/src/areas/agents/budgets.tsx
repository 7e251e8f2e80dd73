import type { AgentBudgets } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'
import { moneyText, tokensText } from './words.ts'

const GROUPS = {
  run: { title: 'One run', about: 'A question and its answer.' },
  userDay: { title: 'One user, per day', about: 'All questions of a user on one day (UTC).' },
  appMonth: { title: 'The app, per month', about: 'All agents together, per month (UTC).' },
} as const
type Group = keyof typeof GROUPS
type Limit = `${Group}${'Tokens' | 'Money'}` | `${Exclude<Group, 'run'>}Calls`
const LIMITS = (Object.keys(GROUPS) as Group[]).flatMap((group): Limit[] => [
  `${group}Tokens`,
  `${group}Money`,
  ...(group === 'run' ? [] : [`${group}Calls` as const]),
])

/** What agents may spend, and what they have spent this month. */
export function Budgets() {
  const appId = useAppId()
  const budgets = useQuery({
    queryKey: appKey(appId, 'agents', 'budgets'),
    queryFn: () => manage.app(appId).agentBudgets.get(),
  })
  if (!budgets.data) {
    return budgets.error ? (
      <Problem error={budgets.error} retry={budgets.refetch} />
    ) : (
      <Skeleton lines={3} />
    )
  }
  const { spentThisMonth, appMonthTokens, appMonthMoney, appMonthCalls } = budgets.data
  return (
    <div className="stack">
      <Panel title="Spent this month" about="With what is reserved for answers being written now.">
        <div className="meters">
          <Meter
            name="Tokens"
            used={spentThisMonth.tokens}
            most={appMonthTokens}
            show={tokensText}
          />
          <Meter name="Money" used={spentThisMonth.money} most={appMonthMoney} show={moneyText} />
          <Meter
            name="Calls of external agents"
            used={spentThisMonth.calls}
            most={appMonthCalls}
            show={tokensText}
          />
        </div>
      </Panel>
      <Limits budgets={budgets.data} />
    </div>
  )
}

function Meter(props: {
  name: string
  used: number
  most: number | undefined
  show: (amount: number) => string
}) {
  const { name, used, most, show } = props
  const part = most === undefined ? 0 : most === 0 ? 1 : Math.min(1, used / most)
  const state = part >= 1 ? 'full' : part >= 0.8 ? 'near' : ''
  return (
    <div className="meter">
      <span className="meter-head">
        <span className="soft">{name}</span>
        <span>
          <strong>{show(used)}</strong>
          {most === undefined ? ', no limit' : ` of ${show(most)}`}
        </span>
      </span>
      {most !== undefined && (
        <>
          <span className={`meter-bar ${state}`} aria-hidden="true">
            <span style={{ inlineSize: `${part * 100}%` }} />
          </span>
          <small className="soft">
            {state === 'full'
              ? 'Used up: agents answer again next month, or with a higher limit.'
              : `${Math.round(part * 100)} % used`}
          </small>
        </>
      )}
    </div>
  )
}

function Limits({ budgets }: { budgets: AgentBudgets }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [given, setGiven] = useState(
    () =>
      Object.fromEntries(LIMITS.map((name) => [name, budgets[name]?.toString() ?? ''])) as Record<
        Limit,
        string
      >,
  )
  const save = useMutation({
    mutationFn: () => {
      // An empty field removes the limit.
      const limits = LIMITS.map((name) => [name, given[name] === '' ? null : Number(given[name])])
      return manage.app(appId).agentBudgets.update(Object.fromEntries(limits))
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'agents', 'budgets') })
      toast('Limits saved')
    },
  })
  const field = (name: Limit, label: string, hint?: string) => (
    <Field
      label={label}
      hint={hint}
      type="number"
      step="any"
      required={false}
      placeholder="No limit"
      value={given[name]}
      onChange={(value) => setGiven((all) => ({ ...all, [name]: value }))}
    />
  )
  return (
    <Panel
      title="Limits"
      about="Before each call of a model, the most that it can cost is reserved. A call that doesn't fit isn't made."
    >
      <Form mutation={save} submit="Save limits">
        <div className="limits">
          {(Object.keys(GROUPS) as Group[]).map((group) => (
            <fieldset key={group} className="fields">
              <legend>{GROUPS[group].title}</legend>
              <p className="soft">{GROUPS[group].about}</p>
              {field(`${group}Tokens`, 'Tokens')}
              {field(`${group}Money`, 'Money')}
              {group !== 'run' && field(`${group}Calls`, 'Calls of external agents')}
            </fieldset>
          ))}
        </div>
        <p className="soft">
          Money is in the currency of the prices on the tab Models. With a limit of money, a
          provider without prices isn't called.
        </p>
      </Form>
    </Panel>
  )
}
