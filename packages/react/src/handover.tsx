'use client'
import { useState } from 'react'
import { useChat, useStrings } from './chat.tsx'
import { useIsAgent } from './hooks/answers.ts'
import { useHandover } from './hooks/handover.ts'
import { Icon } from './icons.tsx'
import { Problem } from './problem.tsx'
import { useRoom } from './room.tsx'

/** Says that a person answers in the place of the agent. */
export function HandoverLine() {
  const strings = useStrings()
  const { target } = useRoom()
  const { handover, takeBack } = useHandover(target)
  const [isRefused, setRefused] = useState(false)
  const isOpen = handover?.state === 'open'
  const back = () => {
    setRefused(false)
    takeBack().catch(() => setRefused(true))
  }
  return (
    <div className={handover && 'lq-handover'}>
      {handover && <Icon name="people" size={14} />}
      <span role="status">
        {handover && (isOpen ? strings.personWillAnswer : strings.personAnswers)}
      </span>
      {isOpen && (
        <button type="button" className="lq-link" onClick={back}>
          {strings.backToAgent}
        </button>
      )}
      {handover && isRefused && <span role="alert">{strings.error}</span>}
    </div>
  )
}

/** A button that asks for a person, if the app has people who answer. */
export function AskPerson({ agentUid }: { agentUid: string }) {
  const { strings, handovers } = useChat()
  const target = { type: 'user' as const, id: agentUid }
  const isAgent = useIsAgent(target)
  const { handover, handOver } = useHandover(target)
  const [isRefused, setRefused] = useState(false)
  if (!handovers || !isAgent || handover) return null
  const ask = () => {
    setRefused(false)
    handOver().catch(() => setRefused(true))
  }
  return (
    <>
      <button type="button" onClick={ask}>
        <Icon name="people" />
        {strings.askPerson}
      </button>
      {isRefused && <Problem />}
    </>
  )
}
