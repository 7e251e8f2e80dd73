import type { ListConversationsQuery, Message, UserConversation } from '@loquat/sdk'
import { type InfiniteData, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useCurl } from '../../shared/curl.ts'
import { Empty, NoneYet } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { appKey, manage } from '../../shared/manage.ts'
import { Skeleton, useTitle } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { useRecords } from '../../shared/records.ts'
import { queryOf, type Search } from '../../shared/search.ts'
import { SearchField } from '../../shared/search-field.tsx'
import { party, partyOf, senderOf, summaryOf } from './content.ts'
import { CONVERSATION_FILTERS } from './filters.ts'
import { addMessage, type MessagePage, messagesKey } from './history.ts'
import { ConversationList, type Row } from './list.tsx'
import { type ChatEvent, changedOf, conversationOf, messageOf, useEvents } from './live.ts'
import { MessageView } from './messages.tsx'
import { useReread } from './reread.ts'
import './explorer.css'

const route = getRouteApi('/apps/$appId/conversations')

/** Each app begins anew: what was heard of one is nothing of another. */
export function Explorer() {
  const { appId } = route.useParams()
  return <AppExplorer key={appId} appId={appId} />
}

/** All conversations of the app at the left, the open one at the right; on a phone one after the other. */
function AppExplorer({ appId }: { appId: string }) {
  useTitle('Conversations')
  const search: Search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: Search, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace })
  const { open } = search
  const { list, rows, hear, read } = useConversations(appId, search)
  const queries = useQueryClient()
  const queryKey = messagesKey(appId, open ?? '')
  const readOpen = useReread(queryKey, 700)
  const events = useEvents(appId, {
    start: () => {
      read()
      readOpen()
    },
    event: (event) => {
      hear(event)
      if (conversationOf(event) !== open || !open) return
      const message = messageOf(event)
      // What is being read may lack this message, and would take it away again.
      const isReading = queries.isFetching({ queryKey }) > 0
      if (message) {
        queries.setQueryData<InfiniteData<MessagePage>>(queryKey, (before) =>
          addMessage(before, message),
        )
      }
      // Marks, reactions, edits, replies: read anew what is shown.
      if (event.type !== 'message.sent' || message?.parentId || isReading) readOpen()
    },
  })
  return (
    <div className={open ? 'explorer has-open' : 'explorer'}>
      <section className="explorer-list" aria-label="List of conversations">
        <h1 className="hidden-text">Conversations</h1>
        <div className="toolbar">
          <SearchField
            label="Search by name"
            value={search.searchKey ?? ''}
            onChange={(searchKey) => change({ searchKey: searchKey || undefined })}
          />
          <FilterBar filters={CONVERSATION_FILTERS} search={search} onChange={change} />
        </div>
        <Problem error={events.error} retry={events.retry} />
        <Problem error={list.error} retry={list.retry} />
        {list.isPending ? (
          <Skeleton />
        ) : rows.length === 0 ? (
          !list.error &&
          (list.more ? (
            <NoneYet list={list} />
          ) : (
            <Nothing
              filtered={Object.keys(search).some((name) => name !== 'open' && name !== 'thread')}
            />
          ))
        ) : (
          <ConversationList
            rows={rows}
            list={list}
            open={open}
            onOpen={(conversationId) => change({ open: conversationId, thread: undefined }, false)}
          />
        )}
      </section>
      <section className="explorer-open" aria-label="Messages">
        {open ? (
          <MessageView
            key={open}
            appId={appId}
            conversationId={open}
            thread={search.thread}
            parties={rows.find(({ conversationId }) => conversationId === open)?.parties}
            onThread={(thread) => change({ thread })}
            onClose={() => change({ open: undefined, thread: undefined })}
          />
        ) : (
          <p className="explorer-none soft">Choose a conversation to see its messages.</p>
        )}
      </section>
    </div>
  )
}

function Nothing({ filtered }: { filtered: boolean }) {
  const curl = useCurl()
  if (filtered) return <Empty title="Nothing matches">Remove a filter to see more.</Empty>
  const message = { receiver: 'ben', receiverType: 'user', data: { text: 'Hello Ben' } }
  return (
    <Empty title="No conversations yet" curl={curl('/messages', message, 'amira')}>
      A conversation begins with its first message. It appears here as soon as it is sent.
    </Empty>
  )
}

/** The list, with what happened since it was read. */
function useConversations(appId: string, search: Search) {
  const { open: _open, thread: _thread, onBehalfOf, eachView, ...asked } = search
  const filters = queryOf(CONVERSATION_FILTERS, asked)
  const query: ListConversationsQuery = {
    perPage: 50,
    withTags: true,
    withUserAndGroupTags: true,
    ...filters,
    searchKey: search.searchKey,
    ...(!onBehalfOf && !eachView && { unique: 1 as const }),
  }
  const api = onBehalfOf ? manage.app(appId).onBehalfOf(onBehalfOf) : manage.app(appId)
  const list = useRecords(appKey(appId, 'conversations', 'list', { onBehalfOf, query }), (place) =>
    api.conversations.list({ ...query, ...place }),
  )
  /** The newest message that was heard of, by conversation. */
  const [fresh, setFresh] = useState<Record<string, Message>>({})
  const read = useReread(appKey(appId, 'conversations', 'list'), 1_500)
  // The list of the whole app is in the order of its users: what is new is shown above it. A filter decides for itself.
  const whole = !onBehalfOf && !eachView && !search.searchKey && Object.keys(filters).length === 0
  const hear = (event: ChatEvent) => {
    const message = messageOf(event)
    const id = conversationOf(event) ?? ''
    const changed = changedOf(event)
    if (message) setFresh((now) => ({ ...without(now, id), [id]: message as Message }))
    if (changed)
      setFresh((now) =>
        now[id]?.id === changed.id ? { ...now, [id]: { ...now[id], ...changed } } : now,
      )
    if (event.type === 'group.deleted') setFresh((now) => without(now, id))
    // Reading hundreds of rows again for each message would cost more than it tells; but what was deleted has to go.
    const shown = list.rows.some(({ lastMessage }) => changed && lastMessage?.id === changed.id)
    if (list.pages <= 3 || shown) read()
  }
  const above = whole ? Object.values(fresh).reverse().map(rowOfMessage) : []
  const known = new Map(list.rows.map((row) => [row.conversationId, row]))
  const rows = [
    ...above.map((row) => ({
      ...row,
      unread: Number(known.get(row.conversationId)?.unreadMessageCount ?? 0),
    })),
    ...list.rows.map(rowOf).filter(({ conversationId }) => !(whole && conversationId in fresh)),
  ]
  return { list, rows, hear, read }
}

function without(messages: Record<string, Message>, id: string): Record<string, Message> {
  const { [id]: _gone, ...others } = messages
  return others
}

/** A view of the whole list names both who talk; that of one user the other alone. */
function rowOf(view: UserConversation): Row {
  const { conversationId, uid, conversationWith, lastMessage, updatedAt, unreadMessageCount } = view
  const other = partyOf(conversationWith)
  const owner = uid !== undefined && other.kind === 'user' ? ownerOf(view, uid) : undefined
  return {
    key: uid === undefined ? conversationId : `${uid} ${conversationId}`,
    conversationId,
    parties: owner ? [owner, other] : [other],
    summary: summaryOf(lastMessage),
    at: lastMessage?.sentAt ?? updatedAt,
    unread: Number(unreadMessageCount),
  }
}

function ownerOf({ lastMessage }: UserConversation, uid: string) {
  const known = lastMessage && [party(lastMessage, 'sender'), party(lastMessage, 'receiver')]
  return known?.find((one) => one?.id === uid) ?? { id: uid, name: uid, kind: 'user' as const }
}

function rowOfMessage(message: Message): Row {
  const { conversationId, receiverType, receiver, sentAt } = message
  const to = party(message, 'receiver') ??
    party(message, 'for') ?? { id: receiver, name: receiver, kind: receiverType }
  return {
    key: `new ${conversationId}`,
    conversationId,
    parties: receiverType === 'group' ? [to] : [senderOf(message), to],
    summary: summaryOf(message),
    at: sentAt,
    unread: 0,
  }
}
