import type { ChatState, LoquatClient, Target } from '@loquat/sdk/client'
import { useSyncExternalStore } from 'react'

/** The current state. The component renders again whenever it changes. */
export const useChat = (client: LoquatClient): ChatState =>
  useSyncExternalStore(client.subscribe, () => client.state)

/** The conversation that the user has opened, and the thread in it. */
export interface Selection {
  target: Target
  name: string
  /** The message whose thread is open next to the conversation. */
  parentId?: string
}
