import type { Agent } from '@loquat/sdk'
import { useState } from 'react'
import { Check, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import { useSave } from './use-save.ts'

type Tool = Agent['serviceTools'][number]

const TOOLS: Record<Tool['name'], { label: string; hint: string; asks: boolean }> = {
  search_messages: {
    ...{ label: 'Search messages', asks: false },
    hint: 'Finds messages in the conversations of the user who asks.',
  },
  list_members: {
    ...{ label: 'List members', asks: false },
    hint: 'Lists the members of a group of the user who asks.',
  },
  send_message: {
    ...{ label: 'Send messages', asks: true },
    hint: 'Sends texts in the name of the user who asks.',
  },
  hand_over_to_a_person: {
    ...{ label: 'Hand over to a person', asks: false },
    hint: 'Hands the conversation to a person, who answers it from the inbox.',
  },
}
const NAMES = Object.keys(TOOLS) as Tool['name'][]

/** Which operations of this service the agent may use, as the user who asks. */
export function ServiceTools({ agent }: { agent: Agent }) {
  const appId = useAppId()
  const [chosen, setChosen] = useState(agent.serviceTools)
  const save = useSave(
    'tools of the service',
    () => undefined,
    () => manage.app(appId).agents.update(agent.uid, { serviceTools: chosen }),
  )
  /** Always in the same order, so that revisions differ only if something did. */
  const choose = (name: Tool['name'], tool: Tool | undefined) =>
    setChosen(
      NAMES.flatMap(
        (each) => (each === name ? tool : chosen.find((one) => one.name === each)) ?? [],
      ),
    )
  return (
    <Panel
      title="Tools of the service"
      about="The agent acts as the user who asks, with that user's rights. Not in groups."
    >
      <Form mutation={save} submit="Save tools of the service">
        {NAMES.map((name) => {
          const { label, hint, asks } = TOOLS[name]
          const tool = chosen.find((one) => one.name === name)
          return (
            <div key={name} className="service-tool">
              <Check
                label={label}
                hint={hint}
                checked={tool !== undefined}
                onChange={(on) => choose(name, on ? { name, requiresApproval: asks } : undefined)}
              />
              {tool && (
                <Check
                  label={`Ask before each call of ${label.toLowerCase()}`}
                  checked={tool.requiresApproval ?? asks}
                  onChange={(requiresApproval) => choose(name, { name, requiresApproval })}
                />
              )}
            </div>
          )
        })}
      </Form>
    </Panel>
  )
}
