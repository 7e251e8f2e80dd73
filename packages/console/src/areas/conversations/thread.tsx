import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { manage } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Composer } from './composer.tsx'
import type { Party } from './content.ts'
import { messagesKey } from './history.ts'
import { MessageItem } from './message.tsx'

/** A message with its replies. */
export function Thread(props: {
  appId: string
  conversationId: string
  id: string
  parties: Party[]
  onClose: () => void
}) {
  const { appId, conversationId, id, parties, onClose } = props
  const queries = useQueryClient()
  const api = manage.app(appId)
  // Below the conversation's key, so that an event in the conversation refetches the thread too.
  const key = [...messagesKey(appId, conversationId), 'thread', id]
  const root = useQuery({ queryKey: [...key, 'root'], queryFn: () => api.messages.get(id) })
  const replies = useInfiniteQuery({
    queryKey: [...key, 'replies'],
    queryFn: ({ pageParam }) =>
      api.threads.listReplies(id, {
        affix: 'append',
        limit: 50,
        ...(pageParam && { id: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next?.id,
  })
  const changed = () =>
    void queries.invalidateQueries({ queryKey: messagesKey(appId, conversationId) })
  const error = root.error ?? replies.error
  return (
    <Dialog wide title="Thread" isOpen onClose={onClose}>
      <Problem error={error} retry={root.error ? root.refetch : replies.refetch} />
      {(root.isPending || replies.isPending) && !error && <Skeleton lines={3} />}
      <ol className="thread">
        {root.data && (
          <MessageItem appId={appId} message={root.data} follows={false} onChanged={changed} />
        )}
        {replies.data?.pages
          .flatMap(({ data }) => data)
          .map((message) => (
            <MessageItem
              key={message.id}
              appId={appId}
              message={message}
              follows={false}
              onChanged={changed}
            />
          ))}
      </ol>
      {replies.hasNextPage && (
        <Button onPress={() => void replies.fetchNextPage()}>Load more</Button>
      )}
      <Composer
        appId={appId}
        conversationId={conversationId}
        parties={parties}
        parentMessageId={id}
        onSent={changed}
      />
    </Dialog>
  )
}
