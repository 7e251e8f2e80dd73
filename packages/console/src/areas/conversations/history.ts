import type { Message } from '@loquat/sdk'
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { appKey, manage } from '../../shared/manage.ts'

export interface MessagePage {
  data: Message[]
  /** The id before which the next older page begins. */
  older: string | undefined
}

export const messagesKey = (appId: string, conversationId: string) =>
  appKey(appId, 'conversations', 'messages', conversationId)

const byId = (a: Message, b: Message) => Number(a.id) - Number(b.id)

/** Adds a message to the newest page, unless it is already there. Replies belong to their thread instead. */
export function addMessage(
  before: InfiniteData<MessagePage> | undefined,
  sent: { id: string; parentId?: string | undefined },
): InfiniteData<MessagePage> | undefined {
  const [newest, ...older] = before?.pages ?? []
  if (!before || !newest || sent.parentId) return before
  if (before.pages.some(({ data }) => data.some(({ id }) => id === sent.id))) return before
  const data = [...newest.data, sent as Message].sort(byId)
  return { ...before, pages: [{ ...newest, data }, ...older] }
}

/** A conversation's messages, page by page from the newest to the oldest. */
export function useMessages(appId: string, conversationId: string) {
  return useInfiniteQuery({
    queryKey: messagesKey(appId, conversationId),
    queryFn: async ({ pageParam }): Promise<MessagePage> => {
      const { data, meta } = await manage.app(appId).messages.list({
        conversationId,
        affix: 'prepend',
        hideReplies: true,
        withTags: true,
        limit: 50,
        ...(pageParam && { id: pageParam }),
      })
      return { data, older: meta.next?.id }
    },
    initialPageParam: '',
    getNextPageParam: ({ older }) => older,
  })
}
