import type { Message } from '@loquat/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Avatar } from '../../shared/avatar.tsx'
import { IconButton } from '../../shared/button.tsx'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Composer } from './composer.tsx'
import { type Party, party, senderOf } from './content.ts'
import { messagesKey, useMessages } from './history.ts'
import { MessageItem } from './message.tsx'
import { PartyLink } from './party-link.tsx'
import { Thread } from './thread.tsx'

export function MessageView(props: {
  appId: string
  conversationId: string
  thread: string | undefined
  /** The parties, if the conversation list knows them. */
  parties: Party[] | undefined
  onThread: (id: string | undefined) => void
  onClose: () => void
}) {
  const { appId, conversationId, thread, onThread, onClose } = props
  const queries = useQueryClient()
  const history = useMessages(appId, conversationId)
  const messages = history.data?.pages.toReversed().flatMap(({ data }) => data) ?? []
  const parties = partiesOf(messages) ?? props.parties ?? []
  const changed = () => queries.invalidateQueries({ queryKey: messagesKey(appId, conversationId) })
  return (
    <>
      <header className="open-head">
        <span className="explorer-back">
          <IconButton icon="back" label="Back to conversations" onPress={onClose} />
        </span>
        {parties[0] && (
          <Avatar
            id={parties[0].id}
            name={parties[0].name}
            url={parties[0].picture}
            square={parties[0].kind === 'group'}
          />
        )}
        <h2 className="clip">
          {parties.map((one, at) => (
            <span key={one.id}>
              {at > 0 && ' · '}
              <PartyLink appId={appId} party={one} />
            </span>
          ))}
        </h2>
        <code className="clip soft">{conversationId}</code>
      </header>
      <Problem
        error={history.error}
        retry={history.isFetchNextPageError ? history.fetchNextPage : history.refetch}
      />
      {history.isPending ? (
        <Skeleton />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
        <div className="history" tabIndex={0} role="log" aria-label="Message history">
          <ol>
            {history.hasNextPage && !history.isFetchNextPageError && (
              <Older
                key={messages.length}
                reading={history.isFetching}
                read={() => void history.fetchNextPage()}
              />
            )}
            {messages.map((message, at) => (
              <MessageItem
                key={message.id}
                appId={appId}
                message={message}
                follows={follows(messages[at - 1], message)}
                onThread={() => onThread(message.id)}
                onChanged={changed}
              />
            ))}
            {messages.length === 0 && <li className="soft">No messages yet.</li>}
          </ol>
        </div>
      )}
      <Composer appId={appId} conversationId={conversationId} parties={parties} onSent={changed} />
      {thread && (
        <Thread
          appId={appId}
          conversationId={conversationId}
          id={thread}
          parties={parties}
          onClose={() => onThread(undefined)}
        />
      )}
    </>
  )
}

/** Loads the next older page when the top scrolls into view. */
function Older({ reading, read }: { reading: boolean; read: () => void }) {
  const top = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!top.current || reading) return
    const seen = new IntersectionObserver(([entry]) => entry?.isIntersecting && read())
    seen.observe(top.current)
    return () => seen.disconnect()
  }, [reading, read])
  return (
    <li ref={top} className="soft history-older">
      Loading older messages…
    </li>
  )
}

/** Messages of one sender within five minutes share the name above them. */
const follows = (before: Message | undefined, message: Message) =>
  before !== undefined &&
  before.sender === message.sender &&
  before.category !== 'action' &&
  message.category !== 'action' &&
  message.sentAt - before.sentAt < 300

/** The group, or both users of a 1:1 conversation. */
function partiesOf(messages: Message[]): Party[] | undefined {
  const message = messages.findLast(({ category }) => category !== 'action') ?? messages.at(-1)
  if (!message) return undefined
  const { receiverType, receiver } = message
  const to = party(message, 'receiver') ??
    party(message, 'for') ?? { id: receiver, name: receiver, kind: receiverType }
  if (receiverType === 'group') return [to]
  return [senderOf(message), to].sort((a, b) => (a.id < b.id ? -1 : 1))
}
