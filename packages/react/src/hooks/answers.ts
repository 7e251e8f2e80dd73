'use client'
import type { ChatMessage, RunningAnswer, Target } from '@loquat/sdk/client'
import { useEffect, useMemo } from 'react'
import { useClient } from '../chat.tsx'
import { counterpartOf, type Party } from '../content.ts'
import { useChatState } from './chat-state.ts'
import { useConversation } from './conversations.ts'

export const AGENT_ROLE = '@agentic'

/**
 * An answer that is being written looks like the message that it becomes. Both have the same `muid`, so React keeps the element
 * when the message arrives.
 */
function messageOf(
  { runId, state, text, reason, tools, waiting, ...of }: RunningAnswer,
  agent: Party,
): ChatMessage {
  const entity = { uid: agent.id, name: agent.name, avatar: agent.picture }
  return {
    ...{ id: runId, muid: runId, category: 'agentic', type: 'assistant', sender: agent.id },
    ...{ conversationId: of.conversationId, parentId: of.threadId },
    sentAt: Math.floor(Date.now() / 1000),
    data: {
      ...{ text, runId, reason, tools, waiting },
      entities: { sender: { entity, entityType: 'user' } },
    },
    pending: state === 'failed' ? 'failed' : 'sending',
  } as unknown as ChatMessage
}

/** The only reply to a message, if an agent wrote it: it is shown in the conversation itself. */
export const onlyAnswerOf = ({ replyCount, lastReply }: ChatMessage) =>
  replyCount === 1 && lastReply?.category === 'agentic' ? lastReply : undefined

function withAnswers(
  messages: readonly ChatMessage[],
  parentId: string | undefined,
  running: ReadonlyMap<string, readonly ChatMessage[]>,
): readonly ChatMessage[] {
  // Without an agent there are none, and rooms can be large.
  if (running.size === 0 && !messages.some(onlyAnswerOf)) return messages
  const answersOf = (message: ChatMessage) => {
    const answer = parentId === undefined ? onlyAnswerOf(message) : undefined
    return answer ? [answer] : (running.get(message.id) ?? [])
  }
  // The message above a thread is its first question.
  const first = parentId === undefined ? [] : (running.get(parentId) ?? [])
  const all = [...first, ...messages.flatMap((message) => [message, ...answersOf(message)])]
  return all.length === messages.length ? messages : all
}

/** The messages of a room, with the answers of an agent below their questions, also while they are written. */
export function useAnswers(
  target: Target,
  parentId: string | undefined,
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  const client = useClient()
  const conversation = useConversation(target)
  const answers = useChatState((state) => state.answers)
  const isAgent = useIsAgent(target)
  const { id } = target
  useEffect(() => {
    if (isAgent) client.loadAnswers(id).catch(() => undefined)
  }, [client, isAgent, id])
  const conversationId = client.idOf(target)
  return useMemo(() => {
    if (target.type === 'group') return messages
    const agent = conversation ? counterpartOf(conversation) : { id, name: id }
    const own = Object.values(answers).filter((one) => one.conversationId === conversationId)
    // The message may be there already, if it was fetched.
    const hasArrived = (runId: string) => messages.some(({ muid }) => muid === runId)
    const running = Map.groupBy(
      own.filter(({ runId }) => !hasArrived(runId)),
      ({ messageId }) => messageId,
    )
    const shown = [...running].map(
      ([messageId, all]) => [messageId, all.map((one) => messageOf(one, agent))] as const,
    )
    return withAnswers(messages, parentId, new Map(shown))
  }, [target.type, id, parentId, messages, answers, conversation, conversationId])
}

/** Whether the counterpart is an agent. */
export function useIsAgent(target: Target): boolean {
  const other = useConversation(target)?.conversationWith
  return other !== undefined && 'role' in other && other.role === AGENT_ROLE
}
