'use client'
import type { Group, Target, User } from '@loquat/sdk/client'
import { useChatState } from './chat-state.ts'
import { useConversation } from './conversations.ts'
import { useGroup } from './group.ts'
import { useUser } from './people.ts'

/** Whether the list doesn't have a conversation: nobody has written yet, or it is further down than what is loaded. */
function useIsMissing(target: Target): boolean {
  const isLoaded = useChatState(({ loaded }) => loaded)
  return useConversation(target) === undefined && isLoaded
}

/** The user of a conversation, or the group if the list has it. */
export function useCounterpart(target: Target): User | Group | undefined {
  const conversation = useConversation(target)
  const isWanted = useIsMissing(target) && target.type === 'user'
  const user = useUser(isWanted ? target.id : undefined)
  return conversation?.conversationWith ?? user ?? undefined
}

/** The user or group of a conversation. */
export function useParty(target: Target): User | Group | undefined {
  const counterpart = useCounterpart(target)
  const isWanted = useIsMissing(target) && target.type === 'group'
  const group = useGroup(isWanted ? target.id : undefined)
  return counterpart ?? group ?? undefined
}
