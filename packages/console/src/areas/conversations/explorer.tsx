import type { Conversation, ListConversationsQuery, Message } from '@loquat/sdk'
import { type InfiniteData, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useCurl } from '../../shared/curl.ts'
import { Empty } from '../../shared/empty.tsx'
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
import { useRefetch } from './refetch.ts'
import './explorer.css'

const route = getRouteApi('/apps/$appId/conversations')

/** Starts with fresh state for each app, so that events of one app never show up in another. */
export function Explorer() {
  const { appId } = route.useParams()
  return <AppExplorer key={appId} appId={appId} />
}

/** The app's conversations on the left, the open one on the right. A phone shows one of them at a time. */
function AppExplorer({ appId }: { appId: string }) {
  useTitle('Conversations')
  const search: Search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: Search, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace })
  const { open } = search
  const { list, rows, applyEvent, refetch } = useConversations(appId, search)
  const queries = useQueryClient()
  const queryKey = messagesKey(appId, open ?? '')
  const refetchOpen = useRefetch(queryKey, 700)
  const events = useEvents(appId, {
    start: () => {
      refetch()
      refetchOpen()
    },
    event: (event) => {
      applyEvent(event)
      if (conversationOf(event) !== open || !open) return
      const message = messageOf(event)
      // A fetch under way may have started before this message was sent, and would remove it again.
      const isFetching = queries.isFetching({ queryKey }) > 0
      if (message) {
        queries.setQueryData<InfiniteData<MessagePage>>(queryKey, (before) =>
          addMessage(before, message),
        )
      }
      // Fetch marks, reactions, edits and replies again: the event alone doesn't update them.
      if (event.type !== 'message.sent' || message?.parentId || isFetching) refetchOpen()
    },
  })
  return (
    <div className={open ? 'explorer has-open' : 'explorer'}>
      <section className="explorer-list" aria-label="Conversation list">
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
          !list.error && (
            <Nothing
              filtered={Object.keys(search).some((name) => name !== 'open' && name !== 'thread')}
            />
          )
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
          <p className="explorer-none soft">Select a conversation to see its messages.</p>
        )}
      </section>
    </div>
  )
}

function Nothing({ filtered }: { filtered: boolean }) {
  const curl = useCurl()
  if (filtered) return <Empty title="No matching conversations">Remove a filter to see more.</Empty>
  const message = { receiver: 'ben', receiverType: 'user', data: { text: 'Hello Ben' } }
  return (
    <Empty title="No conversations yet" curl={curl('/messages', message, 'amira')}>
      Conversations appear here as soon as someone sends a message. Try it with this command.
    </Empty>
  )
}

/** The list of conversations, including changes since it was fetched. */
function useConversations(appId: string, search: Search) {
  const { open: _open, thread: _thread, onBehalfOf, eachView, ...others } = search
  const filters = queryOf(CONVERSATION_FILTERS, others)
  const query: ListConversationsQuery = {
    perPage: 50,
    withTags: true,
    withUserAndGroupTags: true,
    ...filters,
    searchKey: search.searchKey,
    ...(!onBehalfOf && !eachView && { unique: 1 as const }),
  }
  const api = onBehalfOf ? manage.app(appId).onBehalfOf(onBehalfOf) : manage.app(appId)
  const list = useRecords(appKey(appId, 'conversations', 'list', { onBehalfOf, query }), (page) =>
    api.conversations.list({ ...query, ...page }),
  )
  /** The newest message received as an event, by conversation. */
  const [fresh, setFresh] = useState<Record<string, Message>>({})
  const refetch = useRefetch(appKey(appId, 'conversations', 'list'), 1_500)
  // The app's whole list is sorted by user, so new messages go above it. With a filter, only the server knows what matches.
  const whole = !onBehalfOf && !eachView && !search.searchKey && Object.keys(filters).length === 0
  const applyEvent = (event: ChatEvent) => {
    const message = messageOf(event)
    const id = conversationOf(event) ?? ''
    const changed = changedOf(event)
    if (message) setFresh((now) => ({ ...without(now, id), [id]: message }))
    if (changed)
      setFresh((now) =>
        now[id]?.id === changed.id ? { ...now, [id]: { ...now[id], ...changed } as Message } : now,
      )
    if (event.type === 'group.deleted') setFresh((now) => without(now, id))
    // Don't fetch hundreds of rows again for every message, unless an edited or deleted one is on screen.
    const shown = list.rows.some(({ lastMessage }) => changed && lastMessage?.id === changed.id)
    if (list.pages <= 3 || shown) refetch()
  }
  const above = whole ? Object.values(fresh).reverse().map(rowOfMessage) : []
  const known = new Map(list.rows.map((row) => [row.conversationId, row]))
  const rows = [
    ...above.map((row) => ({
      ...row,
      unread: known.get(row.conversationId)?.unreadMessageCount ?? 0,
    })),
    ...list.rows.map(rowOf).filter(({ conversationId }) => !(whole && conversationId in fresh)),
  ]
  return { list, rows, applyEvent, refetch }
}

function without(messages: Record<string, Message>, id: string): Record<string, Message> {
  const { [id]: _gone, ...others } = messages
  return others
}

/** In the app's whole list, a row of a 1:1 conversation names both users. In one user's list, it names the other user. */
function rowOf(view: Conversation): Row {
  const { conversationId, uid, conversationWith, lastMessage, updatedAt, unreadMessageCount } = view
  const other = partyOf(conversationWith)
  const owner = uid !== undefined && other.kind === 'user' ? ownerOf(view, uid) : undefined
  return {
    key: uid === undefined ? conversationId : `${uid} ${conversationId}`,
    conversationId,
    parties: owner ? [owner, other] : [other],
    summary: summaryOf(lastMessage),
    at: lastMessage?.sentAt ?? updatedAt,
    unread: unreadMessageCount,
  }
}

function ownerOf({ lastMessage }: Conversation, uid: string) {
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
