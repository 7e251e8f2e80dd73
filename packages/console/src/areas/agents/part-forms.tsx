import type { AgentTool, FrontendAction, McpServer } from '@loquat/sdk'
import { useState } from 'react'
import { Check, Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { metadataOf, textOfMetadata } from '../../shared/metadata.ts'
import { Parameters } from './parameters.tsx'
import { useSave } from './use-save.ts'

interface TextProps {
  value: string
  onChange: (value: string) => void
}

export const SlugField = (props: TextProps & { label?: string; pattern?: string }) => (
  <Field
    {...props}
    label={props.label ?? 'ID'}
    hint="Letters, digits, _ and -. You can't change it later."
    mono
    maxLength={64}
    autoFocus
  />
)

export const HeadersField = ({ has, ...props }: TextProps & { has: boolean | undefined }) => (
  <TextArea
    {...props}
    label="Headers"
    hint={
      has
        ? 'Stored and never shown. Leave it empty to keep them, unless the URL changes.'
        : 'Sent with every call, as JSON: {"x-api-key": "…"}. They are never shown again.'
    }
    mono
  />
)

export const ApprovalCheck = (props: { checked: boolean; onChange: (asks: boolean) => void }) => (
  <Check
    {...props}
    label="Needs approval"
    hint="The user who asks sees the arguments, and approves or refuses each call."
  />
)

export function McpServerForm(props: { server: McpServer | undefined; onDone: () => void }) {
  const { server, onDone } = props
  const { mcpServers } = manage.app(useAppId())
  const [slug, setSlug] = useState('')
  const [name, setName] = useState(server?.name ?? '')
  const [url, setUrl] = useState(server?.url ?? '')
  const [description, setDescription] = useState(server?.description ?? '')
  const [headers, setHeaders] = useState('')
  const [asks, setAsks] = useState(server?.requiresApproval ?? false)
  const save = useSave(name, onDone, () => {
    const fields = { name, url, description, requiresApproval: asks, ...(headers && { headers }) }
    return server ? mcpServers.update(server.slug, fields) : mcpServers.create({ slug, ...fields })
  })
  return (
    <Form mutation={save} submit={server ? 'Save' : 'Add MCP server'}>
      <div className="pair">
        {!server && <SlugField value={slug} onChange={setSlug} />}
        <Field label="Name" value={name} onChange={setName} maxLength={100} />
      </div>
      <Field
        label="URL"
        hint="Begins with https:// and is on the public internet."
        mono
        value={url}
        onChange={setUrl}
      />
      <TextArea
        label="Description"
        hint="What it offers."
        value={description}
        onChange={setDescription}
      />
      <HeadersField has={server?.hasHeaders} value={headers} onChange={setHeaders} />
      <ApprovalCheck checked={asks} onChange={setAsks} />
    </Form>
  )
}

export function FrontendActionForm(props: {
  action: FrontendAction | undefined
  onDone: () => void
}) {
  const { action, onDone } = props
  const { frontendActions } = manage.app(useAppId())
  const [triggerFunction, setFunction] = useState('')
  const [name, setName] = useState(action?.name ?? '')
  const [description, setDescription] = useState(action?.description ?? '')
  const [parameters, setParameters] = useState(action?.parameters ?? [])
  const save = useSave(name, onDone, () => {
    const fields = { name, description, parameters }
    return action
      ? frontendActions.update(action.triggerFunction, fields)
      : frontendActions.create({ triggerFunction, ...fields })
  })
  return (
    <Form mutation={save} submit={action ? 'Save' : 'Add frontend action'}>
      <div className="pair">
        {!action && <SlugField label="Function" value={triggerFunction} onChange={setFunction} />}
        <Field label="Name" value={name} onChange={setName} maxLength={100} />
      </div>
      <TextArea
        label="Description"
        hint="When the model should use it."
        required
        value={description}
        onChange={setDescription}
      />
      <Parameters value={parameters} onChange={setParameters} />
    </Form>
  )
}

/** A tool of external agents. Its parameters are a JSON schema, because the agent may have made it that way. */
export function ToolForm({ tool, onDone }: { tool: AgentTool | undefined; onDone: () => void }) {
  const { agentTools } = manage.app(useAppId())
  const [name, setName] = useState(tool?.name ?? '')
  const [displayName, setDisplayName] = useState(tool?.displayName ?? '')
  const [executionText, setExecutionText] = useState(tool?.executionText ?? '')
  const [description, setDescription] = useState(tool?.tool.description ?? '')
  const [doNotExecute, setDoNotExecute] = useState(tool?.doNotExecute ?? false)
  const [parameters, setParameters] = useState(textOfMetadata(tool?.tool.parameters))
  const save = useSave(displayName, onDone, async () => {
    const schema = metadataOf(parameters)
    const fields = {
      ...{ name, displayName, executionText, doNotExecute },
      ...(description && { description }),
      ...(schema && { parameters: schema }),
    }
    await (tool ? agentTools.replace(tool.name, fields) : agentTools.create(fields))
  })
  return (
    <Form mutation={save} submit={tool ? 'Save' : 'Add tool'}>
      <div className="pair">
        {!tool && <SlugField value={name} onChange={setName} />}
        <Field
          label="Name"
          hint="The name that people see."
          value={displayName}
          onChange={setDisplayName}
          maxLength={100}
        />
      </div>
      <Field
        label="Text while it runs"
        hint="Such as “Looking for free appointments…”."
        value={executionText}
        onChange={setExecutionText}
        maxLength={200}
      />
      <Check
        label="The agent runs it"
        hint="Otherwise the device of the user does."
        checked={doNotExecute}
        onChange={setDoNotExecute}
      />
      <TextArea
        label="Description"
        hint="When to use it."
        required={!doNotExecute}
        value={description}
        onChange={setDescription}
      />
      <TextArea
        label="Parameters"
        hint="A JSON schema of an object."
        mono
        value={parameters}
        onChange={setParameters}
      />
    </Form>
  )
}
