import type { Agent } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged, useVariables } from './data.ts'

const LONGEST = 20_000
/** What is known about the user who asks. */
const BUILT_IN = {
  'var-auth:sender.name': 'Name of the user who asks',
  'var-auth:sender.uid': 'UID of the user who asks',
  'var-auth:sender.role': 'Role of the user who asks',
}

/** What the model is told before each conversation. */
export function Instructions({ agent }: { agent: Agent }) {
  const appId = useAppId()
  const id = useId()
  const changed = useAgentsChanged()
  const variables = useVariables()
  const editor = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(agent.instruction ?? '')
  const save = useMutation({
    mutationFn: () => manage.app(appId).agents.update(agent.uid, { instruction: text }),
    onSuccess: async () => {
      await changed()
      toast('Saved. The next question gets these instructions.')
    },
  })
  const insert = (variable: string) => {
    const { selectionStart = text.length, selectionEnd = text.length } = editor.current ?? {}
    setText(`${text.slice(0, selectionStart)}@${variable}${text.slice(selectionEnd)}`)
    editor.current?.focus()
  }
  const custom = variables.data?.map(
    ({ name, description }) => [`var-custom:${name}`, description ?? ''] as const,
  )
  const all = [...Object.entries(BUILT_IN), ...(custom ?? [])]
  return (
    <section className="panel">
      <Form
        mutation={save}
        submit="Save instructions"
        ready={text !== (agent.instruction ?? '')}
        beside={
          <span className="soft count">
            {text.length.toLocaleString('en')} of {LONGEST.toLocaleString('en')}
          </span>
        }
      >
        <div className="instructions">
          <div className="field">
            <label htmlFor={id}>Instructions</label>
            <textarea
              ref={editor}
              id={id}
              className="input"
              rows={18}
              maxLength={LONGEST}
              placeholder="You are the assistant of a clinic. Answer in two sentences. If you don't know, say so."
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
          <div>
            <h3>Variables</h3>
            <p className="soft">Replaced in each conversation. Select one to insert it.</p>
            <ul className="choices">
              {all.map(([name, about]) => (
                <li key={name}>
                  <Button className="choice" onPress={() => insert(name)}>
                    <code className="clip">@{name}</code>
                    {about && <small>{about}</small>}
                  </Button>
                </li>
              ))}
            </ul>
          </div>
        </div>
      </Form>
    </section>
  )
}
