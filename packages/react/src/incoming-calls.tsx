'use client'
import type { Call } from '@loquat/sdk/calls'
import { useState } from 'react'
import { Avatar } from './avatar.tsx'
import { useCalls, useNameOf } from './calls-provider.tsx'
import { useChat, useStrings } from './chat.tsx'
import { useUser } from './hooks/people.ts'
import { Icon } from './icons.tsx'
import { Problem } from './problem.tsx'

/** The calls that ring, each with buttons to answer and to decline. */
export function IncomingCalls() {
  const { incoming } = useCalls()
  return (
    <div className="lq-incoming" role="status">
      {incoming.map((call) => (
        <IncomingCall key={call.sessionId} call={call} />
      ))}
    </div>
  )
}

function IncomingCall({ call }: { call: Call }) {
  const { parts } = useChat()
  const { calls: texts } = useStrings()
  const { calls } = useCalls()
  const { id, name, kind } = useNameOf(call)
  const caller = useUser(call.callInitiator)?.name ?? call.callInitiator
  const [problem, setProblem] = useState(false)
  const AvatarPart = parts.Avatar ?? Avatar
  const { sessionId, type } = call
  const act = (work: Promise<void> | undefined) => void work?.catch(() => setProblem(true))
  return (
    <section className="lq-ringing" aria-label={texts.with(name)}>
      <AvatarPart id={id} name={name} kind={kind} />
      <div className="lq-ringing-names">
        <strong className="lq-clip">
          <bdi>{name}</bdi>
        </strong>
        <small className="lq-soft">
          {kind === 'group' ? texts.incoming[type](caller) : texts.ringing[type]}
        </small>
        {problem && <Problem />}
      </div>
      <button
        type="button"
        className="lq-round"
        data-danger
        aria-label={texts.decline}
        title={texts.decline}
        onClick={() => act(calls?.reject(sessionId))}
      >
        <Icon name="phoneDown" size={20} />
      </button>
      <button
        type="button"
        className="lq-round"
        data-good
        aria-label={texts.answer}
        title={texts.answer}
        onClick={() => act(calls?.join(sessionId))}
      >
        <Icon name={type === 'video' ? 'camera' : 'phone'} size={20} />
      </button>
    </section>
  )
}
