'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { useState } from 'react'
import { useChat, useStrings } from './chat.tsx'
import { callsOf, senderOf } from './content.ts'
import { Icon } from './icons.tsx'

/** The tools that the agent has called so far, apart from the one that waits. */
export function ToolSteps({ message }: { message: ChatMessage }) {
  const strings = useStrings()
  const { tools = [], waiting } = callsOf(message)
  const steps = tools.filter(({ toolCallId }) => toolCallId !== waiting?.toolCallId)
  if (steps.length === 0) return null
  return (
    <ul className="lq-steps" aria-label={strings.toolSteps}>
      {steps.map(({ toolCallId, displayName, done }) => (
        <li key={toolCallId} data-running={!done || undefined}>
          <Icon name={done ? 'check' : 'clock'} size={14} />
          <span dir="auto">
            {done ? strings.toolDone(displayName) : strings.toolRunning(displayName)}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** The call that waits: for an approval of the user, or for a device. */
export function WaitingTool({ message }: { message: ChatMessage }) {
  const { client, strings } = useChat()
  const { runId = '', waiting } = callsOf(message)
  const [isBusy, setBusy] = useState(false)
  const [isRefused, setRefused] = useState(false)
  if (!waiting) return null
  const { toolCallId, displayName, waitsFor } = waiting
  if (waitsFor === 'device') {
    return (
      <p className="lq-answering" role="status">
        <Icon name="clock" size={14} />
        <span>{strings.waitsForDevice(displayName)}</span>
      </p>
    )
  }
  const answer = (decision: 'approve' | 'refuse') => {
    setBusy(true)
    setRefused(false)
    client.api.agentRuns[decision](runId, { toolCallId })
      .catch(() => setRefused(true))
      .finally(() => setBusy(false))
  }
  const question = strings.wantsTool(senderOf(message).name, displayName)
  return (
    <section className="lq-approval" aria-label={question}>
      <p role="alert" className="lq-approval-question">
        {question}
      </p>
      <Arguments text={waiting.arguments} />
      <div className="lq-approval-buttons">
        <button
          type="button"
          className="lq-button"
          disabled={isBusy}
          onClick={() => answer('approve')}
        >
          {strings.approve}
        </button>
        <button
          type="button"
          className="lq-button lq-button-quiet"
          disabled={isBusy}
          onClick={() => answer('refuse')}
        >
          {strings.refuse}
        </button>
        {isRefused && <span role="alert">{strings.error}</span>}
      </div>
    </section>
  )
}

/** What the tool gets. All of it, because the user decides about it. */
function Arguments({ text }: { text: string }) {
  const entries = Object.entries(argumentsOf(text))
  if (entries.length === 0) return null
  return (
    <dl className="lq-arguments">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

function argumentsOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text || '{}')
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
