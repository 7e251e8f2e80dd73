import { useState } from 'react'
import { Check, Field, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import type { AnyAgent } from './data.ts'
import { useSave } from './use-save.ts'

const minutesOf = (seconds: number) => (seconds === 0 ? '' : String(seconds / 60))

/** Whom an agent answers besides users who write to it. */
export function Answering({ one }: { one: AnyAgent }) {
  const { agents, externalAgents } = manage.app(useAppId())
  const { uid } = one.agent
  const [answersMentions, setMentions] = useState(one.agent.answersMentions)
  const [answersAgents, setAgents] = useState(one.agent.answersAgents)
  const [minutes, setMinutes] = useState(minutesOf(one.agent.handBackAfterSeconds))
  const handBackAfterSeconds = Math.round(Number(minutes) * 60)
  const changes = { answersMentions, answersAgents, handBackAfterSeconds }
  const save = useSave(
    one.agent.name,
    () => undefined,
    () =>
      one.kind === 'built' ? agents.update(uid, changes) : externalAgents.update(uid, changes),
  )
  return (
    <Panel title="Whom it answers" about="Users who write to it always get an answer.">
      <Form mutation={save} submit="Save">
        <Check
          label="Mentions in groups"
          hint="In groups whose member it is. Everybody there sees the answer."
          checked={answersMentions}
          onChange={setMentions}
        />
        <Check
          label="Other agents"
          hint="Messages that the app sends in the name of an agent. Answers of agents never get an answer."
          checked={answersAgents}
          onChange={setAgents}
        />
        <Field
          label="Hand back to the agent after (minutes)"
          hint="If a conversation was handed to a person and nobody has answered by then. Empty: never."
          type="number"
          step="any"
          required={false}
          value={minutes}
          onChange={setMinutes}
        />
      </Form>
    </Panel>
  )
}
