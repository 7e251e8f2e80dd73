import type { ExternalAgent } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Check, Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { metadataOf } from '../../shared/metadata.ts'
import { PictureField } from '../../shared/picture-field.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged } from './data.ts'

/** Connects an agent that runs elsewhere, or changes how it is reached. */
export function ExternalForm({ agent, onDone }: { agent?: ExternalAgent; onDone?: () => void }) {
  const appId = useAppId()
  const changed = useAgentsChanged()
  const [name, setName] = useState(agent?.name ?? '')
  const [icon, setIcon] = useState(agent?.icon ?? '')
  const [framework, setFramework] = useState(agent?.integrateWith ?? '')
  const [baseUrl, setBaseUrl] = useState(agent?.integrationMeta.baseUrl ?? '')
  const [agentId, setAgentId] = useState(agent?.integrationMeta.agentId ?? '')
  const [idempotent, setIdempotent] = useState(agent?.integrationMeta.idempotent ?? false)
  const [headers, setHeaders] = useState('')
  const save = useMutation({
    mutationFn: async () => {
      const { externalAgents } = manage.app(appId)
      const given = metadataOf(headers) as Record<string, string> | undefined
      const body = {
        ...{ name, icon, integrateWith: framework, integrationType: 'agent' as const },
        integrationMeta: {
          ...{ baseUrl, idempotent },
          ...(agentId && { agentId }),
          ...(given && { headers: given }),
        },
      }
      if (agent) await externalAgents.update(agent.uid, body)
      else await externalAgents.create(body)
    },
    onSuccess: async () => {
      await changed()
      onDone?.()
      toast(agent ? `Saved ${name}` : `Connected ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={agent ? 'Save' : 'Connect agent'}>
      <div className="pair">
        <Field label="Name" value={name} onChange={setName} maxLength={100} />
        <Field
          label="Made with"
          hint="Such as mastra, langgraph or ag-ui."
          mono
          value={framework}
          onChange={setFramework}
          maxLength={50}
          pattern="[a-z0-9\-]+"
        />
      </div>
      <PictureField label="Picture" value={icon} onChange={setIcon} />
      <div className="pair">
        <Field
          label="URL"
          hint="Begins with https:// and is on the public internet."
          mono
          value={baseUrl}
          onChange={setBaseUrl}
        />
        <Field
          label="Name there"
          hint="If several agents have one URL."
          mono
          required={false}
          value={agentId}
          onChange={setAgentId}
        />
      </div>
      <Check
        label="Can be called again"
        hint="After a crash, a call that was cut off is repeated. Otherwise the answer fails."
        checked={idempotent}
        onChange={setIdempotent}
      />
      <TextArea
        label="Headers"
        hint={
          agent?.integrationMeta.hasHeaders
            ? 'Stored and never shown. Leave it empty to keep them, unless the URL changes.'
            : 'Sent with every call, as JSON: {"authorization": "Bearer …"}. They are never shown again.'
        }
        mono
        value={headers}
        onChange={setHeaders}
      />
    </Form>
  )
}
