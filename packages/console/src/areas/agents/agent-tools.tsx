import type { Agent, ExternalAgent } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Check, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged, useParts } from './data.ts'

interface Choosable {
  id: string
  name: string
  about: string
}

/** Which parts a built agent may use. */
export function AgentTools({ agent }: { agent: Agent }) {
  const appId = useAppId()
  const parts = useParts()
  if (!parts.data) return <Loading parts={parts} />
  const { api, mcp, actions, tools } = parts.data
  return (
    <ChooseParts
      kinds={{
        apiTools: {
          title: 'API tools',
          parts: api.map((one) => part(one.slug, one.name, one.description)),
        },
        mcpServers: {
          title: 'MCP servers',
          parts: mcp.map((one) => part(one.slug, one.name, one.description ?? one.url)),
        },
        frontendActions: {
          title: 'Frontend actions',
          parts: actions.map((one) => part(one.triggerFunction, one.name, one.description)),
        },
        tools: { title: 'Tools', parts: tools.map(toolPart) },
      }}
      chosen={agent}
      save={(chosen) => manage.app(appId).agents.update(agent.uid, chosen)}
    />
  )
}

/** Which parts an external agent may use. */
export function ExternalTools({ agent }: { agent: ExternalAgent }) {
  const appId = useAppId()
  const parts = useParts()
  if (!parts.data) return <Loading parts={parts} />
  const ofType = (type: 'tool' | 'action') =>
    parts.data.tools.filter((tool) => tool.type === type).map(toolPart)
  return (
    <ChooseParts
      kinds={{
        tools: { title: 'Tools, which the agent runs', parts: ofType('tool') },
        actions: { title: 'Actions, which devices of users run', parts: ofType('action') },
      }}
      chosen={agent}
      save={(chosen) => manage.app(appId).externalAgents.update(agent.uid, chosen)}
    />
  )
}

const part = (id: string, name: string | undefined, about: string): Choosable => ({
  ...{ id, about },
  name: name ?? id,
})
const toolPart = (tool: { name: string; displayName: string; tool: { description: string } }) =>
  part(tool.name, tool.displayName, tool.tool.description)

function Loading({ parts }: { parts: ReturnType<typeof useParts> }) {
  if (parts.error) return <Problem error={parts.error} retry={parts.refetch} />
  return <Skeleton lines={4} />
}

function ChooseParts<K extends string>(props: {
  kinds: Record<K, { title: string; parts: Choosable[] }>
  chosen: Record<NoInfer<K>, string[]>
  save: (chosen: Record<NoInfer<K>, string[]>) => Promise<unknown>
}) {
  const { kinds } = props
  const names = Object.keys(kinds) as K[]
  const appId = useAppId()
  const changed = useAgentsChanged()
  const [chosen, setChosen] = useState(
    () =>
      Object.fromEntries(names.map((name) => [name, props.chosen[name]])) as Record<K, string[]>,
  )
  const save = useMutation({
    mutationFn: () => props.save(chosen),
    onSuccess: async () => {
      await changed()
      toast('Tools saved')
    },
  })
  const choose = (name: K, id: string, on: boolean) =>
    setChosen((all) => {
      const others = all[name].filter((one) => one !== id)
      return { ...all, [name]: on ? [...others, id] : others }
    })
  const none = names.every((name) => kinds[name].parts.length === 0)
  return (
    <Panel
      title="What it may use"
      about={
        none
          ? 'This app has no tools yet.'
          : 'The agent decides by their descriptions when to use which of these.'
      }
    >
      {none ? (
        <p className="soft">
          Add them on the tab <ToolsLink appId={appId} />, then choose them here.
        </p>
      ) : (
        <Form mutation={save} submit="Save tools">
          {names.map((name) => (
            <fieldset key={name} className="fields choose-parts">
              <legend>{kinds[name].title}</legend>
              {kinds[name].parts.length === 0 && <p className="soft">None yet.</p>}
              {kinds[name].parts.map(({ id, name: label, about }) => (
                <Check
                  key={id}
                  label={label}
                  hint={about}
                  checked={chosen[name].includes(id)}
                  onChange={(on) => choose(name, id, on)}
                />
              ))}
            </fieldset>
          ))}
        </Form>
      )}
    </Panel>
  )
}

const ToolsLink = ({ appId }: { appId: string }) => (
  <Link to="/apps/$appId/agents" params={{ appId }} search={{ tab: 'tools' }}>
    Tools
  </Link>
)
