'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { useState } from 'react'
import { useChat, useStrings } from './chat.tsx'
import { Icon } from './icons.tsx'

/** Says that a machine writes here. */
export function AgentBadge() {
  const { agent, agentShort } = useStrings()
  return (
    <span className="lq-agent" title={agent}>
      <span aria-hidden="true">{agentShort}</span>
      <span className="lq-hidden">{agent}</span>
    </span>
  )
}

/** Three dots, until the first word. */
export const Thinking = () => {
  const { thinking } = useStrings()
  return (
    <span className="lq-dots lq-thinking" role="status" aria-label={thinking}>
      <i />
      <i />
      <i />
    </span>
  )
}

/** Stops an answer that is being written, or starts one again that failed. */
export function AnswerState({ message }: { message: ChatMessage }) {
  const { client, strings } = useChat()
  const [isBusy, setBusy] = useState(false)
  const [isRefused, setRefused] = useState(false)
  const { runId = '', reason = '' } = message.data as { runId?: string; reason?: string }
  const isStopped = reason.startsWith('cancelled')
  // A newer server may have other reasons.
  const reasons: Record<string, string> = strings.answerReasons
  const act = (action: 'cancel' | 'retry') => {
    setBusy(true)
    setRefused(false)
    client.api.agentRuns[action](runId)
      .catch(() => setRefused(true))
      .finally(() => setBusy(false))
  }
  if (message.pending === 'sending') {
    return (
      <p className="lq-answering">
        <button type="button" className="lq-link" disabled={isBusy} onClick={() => act('cancel')}>
          <Icon name="stop" size={14} />
          {strings.stopAnswer}
        </button>
        {isRefused && <span role="alert">{strings.error}</span>}
      </p>
    )
  }
  return (
    <p className={isStopped ? 'lq-answering' : 'lq-failed'} role={isStopped ? 'status' : 'alert'}>
      <Icon name={isStopped ? 'stop' : 'warn'} size={14} />
      <span>
        {isRefused
          ? strings.error
          : isStopped
            ? strings.answerStopped
            : (reasons[reason] ?? strings.answerFailed)}
      </span>
      <button type="button" className="lq-link" disabled={isBusy} onClick={() => act('retry')}>
        {strings.retry}
      </button>
    </p>
  )
}
