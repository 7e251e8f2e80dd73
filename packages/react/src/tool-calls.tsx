'use client'
import type { CalledTool } from '@loquat/sdk/agents'
import { useState } from 'react'
import { useChat, useStrings } from './chat.tsx'
import { callsOf, senderOf, toolsOf } from './content.ts'
import { Icon } from './icons.tsx'
import type { MessagePartProps } from './parts.ts'
import type { Strings } from './strings/en.ts'

/** The tools that the agent has used for an answer. */
export function ToolSteps({ message }: MessagePartProps) {
  return message.pending ? <StepsSoFar message={message} /> : <FoldedSteps message={message} />
}

/** Those that it has called so far, apart from the one that waits. */
function StepsSoFar({ message }: MessagePartProps) {
  const { tools = [], waiting } = callsOf(message)
  return <Steps tools={tools.filter(({ toolCallId }) => toolCallId !== waiting?.toolCallId)} />
}

/** The same of an answer that is over: several are folded into one line. */
function FoldedSteps({ message }: MessagePartProps) {
  const strings = useStrings()
  const tools = toolsOf(message)
  if (tools.length < 2) return <Steps tools={tools} />
  return (
    <details className="lq-folded">
      <summary>
        <Icon name="check" size={14} />
        {strings.stepCount(tools.length)}
        <Icon name="right" size={12} />
      </summary>
      <Steps tools={tools} />
    </details>
  )
}

function Steps({ tools }: { tools: readonly CalledTool[] }) {
  const strings = useStrings()
  if (tools.length === 0) return null
  return (
    <ul className="lq-steps" aria-label={strings.toolSteps}>
      {tools.map((tool) => (
        <li key={tool.toolCallId} data-running={!tool.done || undefined}>
          <Icon name={tool.failed ? 'close' : tool.done ? 'check' : 'clock'} size={14} />
          <span dir="auto">{stepOf(tool, strings)}</span>
        </li>
      ))}
    </ul>
  )
}

function stepOf(tool: CalledTool, strings: Strings): string {
  const { displayName, executionText, done, failed } = tool
  if (failed) return strings.toolFailed(displayName)
  return done ? strings.toolDone(displayName) : (executionText ?? strings.toolRunning(displayName))
}

/** The call that waits: for an approval of the user, or for a device. */
export function WaitingTool({ message }: MessagePartProps) {
  const { client, strings } = useChat()
  const { runId = '', waiting } = callsOf(message)
  const [isBusy, setBusy] = useState(false)
  const [isRefused, setRefused] = useState(false)
  if (!waiting || message.pending !== 'sending') return null
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
