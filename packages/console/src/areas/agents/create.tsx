import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'
import { useProviders } from '../models/providers.tsx'
import { useAgentsChanged } from './data.ts'

/** Creates an agent and opens its page, where everything else is set. */
export function CreateAgent() {
  const appId = useAppId()
  const navigate = useNavigate()
  const changed = useAgentsChanged()
  const providers = useProviders()
  const [name, setName] = useState('')
  const [instruction, setInstruction] = useState('')
  const [providerId, setProviderId] = useState('')
  const [model, setModel] = useState('')
  const known = providers.data?.data ?? []
  const create = useMutation({
    mutationFn: () =>
      manage.app(appId).agents.create({
        name,
        instruction: instruction || undefined,
        ...(providerId && { providerId, model }),
      }),
    onSuccess: async ({ uid }) => {
      await changed()
      toast(`Created ${name}`)
      await navigate({ to: '/apps/$appId/agents/$uid', params: { appId, uid } })
    },
  })
  return (
    <Form mutation={create} submit="Create agent">
      <Field
        label="Name"
        hint="The name that users see."
        value={name}
        onChange={setName}
        maxLength={100}
        autoFocus
      />
      <TextArea
        label="Instructions"
        hint="What the model is told before each conversation. You can change them at any time."
        rows={6}
        value={instruction}
        onChange={setInstruction}
      />
      <div className="pair">
        <Choice
          label="Provider"
          hint={
            known.length === 0
              ? 'There is no provider yet: add one under Models. Without one, the agent can’t answer.'
              : 'Whose model writes the answers.'
          }
          value={providerId}
          options={{ '': 'None', ...Object.fromEntries(known.map((one) => [one.id, one.name])) }}
          onChange={setProviderId}
        />
        {providerId && (
          <Field
            label="Model"
            hint="As the provider calls it."
            mono
            value={model}
            onChange={setModel}
            maxLength={100}
          />
        )}
      </div>
    </Form>
  )
}
