import type { Agent } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useProviders } from '../models/providers.tsx'
import { useAgentsChanged } from './data.ts'

const numberOf = (text: string) => (text === '' ? undefined : Number(text))

/** Which model answers, and how. */
export function ModelForm({ agent }: { agent: Agent }) {
  const appId = useAppId()
  const changed = useAgentsChanged()
  const providers = useProviders()
  const { temperature: warm, maxTokens: most, ...others } = agent.modelMetaData ?? {}
  const [providerId, setProviderId] = useState(agent.providerId ?? '')
  const [model, setModel] = useState(agent.model ?? '')
  const [temperature, setTemperature] = useState(warm === undefined ? '' : String(warm))
  const [maxTokens, setMaxTokens] = useState(most === undefined ? '' : String(most))
  const save = useMutation({
    mutationFn: () => {
      const chosen = { temperature: numberOf(temperature), maxTokens: numberOf(maxTokens) }
      return manage.app(appId).agents.update(agent.uid, {
        ...{ model, modelMetaData: { ...others, ...chosen } },
        ...(providerId && { providerId }),
      })
    },
    onSuccess: async () => {
      await changed()
      toast('Model saved')
    },
  })
  const names = providers.data?.data.map(({ id, name }) => [id, name] as const) ?? []
  return (
    <Panel>
      <Problem error={providers.error} retry={providers.refetch} />
      <Form mutation={save} submit="Save">
        <div className="pair">
          <Choice
            label="Provider"
            hint="An agent without a provider can't answer."
            value={providerId}
            options={{
              ...(agent.providerId ? {} : { '': 'None' }),
              ...Object.fromEntries(names),
            }}
            onChange={setProviderId}
          />
          <Field
            label="Model"
            hint="As the provider calls it."
            mono
            value={model}
            onChange={setModel}
            maxLength={100}
          />
          <Field
            label="Temperature"
            hint="From 0, which is predictable, to 2. Empty: the provider decides."
            type="number"
            step="any"
            required={false}
            value={temperature}
            onChange={setTemperature}
          />
          <Field
            label="Longest answer (tokens)"
            hint="A longer answer is cut short. Empty: 1,024."
            type="number"
            required={false}
            value={maxTokens}
            onChange={setMaxTokens}
          />
        </div>
        <p className="soft">
          Keys and prices of providers are on the tab{' '}
          <Link to="/apps/$appId/agents" params={{ appId }} search={{ tab: 'models' }}>
            Models
          </Link>
          .
        </p>
      </Form>
    </Panel>
  )
}
