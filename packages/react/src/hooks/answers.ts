'use client'
import type { ChatMessage, LoquatClient, RunningAnswer, Target } from '@loquat/sdk/client'
import { useEffect, useMemo } from 'react'
import { useClient } from '../chat.tsx'
import { AGENT_ROLE, counterpartOf, mentionedAgents, mentionedOf, type Party } from '../content.ts'
import { useChatState } from './chat-state.ts'
import { useConversation } from './conversations.ts'
import { useCounterpart } from './party.ts'

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

/** The messages of a room, with the answers of agents below their questions, also while they are written. */
export function useAnswers(
  target: Target,
  parentId: string | undefined,
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  const client = useClient()
  const conversation = useConversation(target)
  const answers = useChatState((state) => state.answers)
  const agents = useAskedAgents(target, messages)
  useEffect(() => {
    for (const uid of agents) client.loadAnswers(uid).catch(() => undefined)
  }, [client, agents])
  const conversationId = client.idOf(target)
  return useMemo(() => {
    const own = Object.values(answers).filter((one) => one.conversationId === conversationId)
    // The message may be there already, if it was fetched.
    const hasArrived = (runId: string) => messages.some(({ muid }) => muid === runId)
    const running = Map.groupBy(
      own.filter(({ runId }) => !hasArrived(runId)),
      ({ messageId }) => messageId,
    )
    const agentOf = ({ agentUid, messageId }: RunningAnswer): Party => {
      const named =
        conversation?.conversationType === 'user'
          ? counterpartOf(conversation)
          : mentionedOf(questionOf(client, messageId, conversationId, messages), agentUid)
      return named ?? { id: agentUid, name: agentUid }
    }
    const shown = [...running].map(
      ([messageId, all]) => [messageId, all.map((one) => messageOf(one, agentOf(one)))] as const,
    )
    return withAnswers(messages, parentId, new Map(shown))
  }, [client, parentId, messages, answers, conversation, conversationId])
}

/** A question in a group. The first one of a thread is only in the conversation. */
function questionOf(
  client: LoquatClient,
  messageId: string,
  conversationId: string,
  messages: readonly ChatMessage[],
): ChatMessage | undefined {
  const isIt = ({ id }: ChatMessage) => id === messageId
  return messages.find(isIt) ?? client.state.rooms[conversationId]?.messages.find(isIt)
}

/** The agents that the user has asked among these messages: the counterpart, or those that the user has mentioned in a group. */
function useAskedAgents({ type, id }: Target, messages: readonly ChatMessage[]): readonly string[] {
  const { uid } = useClient()
  const isAgent = useIsAgent({ type, id })
  const asked = useMemo(() => {
    if (type === 'user') return isAgent ? id : ''
    const own = messages.filter(({ sender, pending }) => sender === uid && !pending)
    return [...new Set(own.flatMap(mentionedAgents))].join(' ')
  }, [type, id, isAgent, uid, messages])
  return useMemo(() => (asked === '' ? [] : asked.split(' ')), [asked])
}

/** Whether this user asked for an answer. In a group, others ask, too: who mentioned the agent last, before it answered. */
export function useHasAsked(target: Target, { id, parentId = '', sender }: ChatMessage): boolean {
  const client = useClient()
  const [room, thread] = [client.idOf(target), client.idOf(target, parentId)]
  const isGroup = target.type === 'group'
  const first = useChatState(({ rooms }) => (isGroup ? rooms[room]?.messages : undefined))
  const replies = useChatState(({ rooms }) => (isGroup ? rooms[thread]?.messages : undefined))
  return useMemo(() => {
    if (!isGroup) return true
    const isQuestion = (one: ChatMessage) =>
      Number(one.id) < Number(id) && mentionedOf(one, sender) !== undefined
    const question = replies?.findLast(isQuestion) ?? first?.find((one) => one.id === parentId)
    return question?.sender === client.uid
  }, [client, isGroup, first, replies, id, parentId, sender])
}

/** Whether the counterpart is an agent. */
export function useIsAgent(target: Target): boolean {
  const other = useCounterpart(target)
  return other !== undefined && 'role' in other && other.role === AGENT_ROLE
}
