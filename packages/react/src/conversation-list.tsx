'use client'
import { type Conversation, type Target, targetOf } from '@loquat/sdk/client'
import { useEffect, useRef } from 'react'
import { AgentBadge } from './answer-state.tsx'
import { Avatar } from './avatar.tsx'
import { useChat } from './chat.tsx'
import { AGENT_ROLE, counterpartOf, isSame, senderOf, summaryOf } from './content.ts'
import { exactTimeOf, shortTimeOf } from './format.ts'
import { useConversations } from './hooks/conversations.ts'
import { useMute } from './hooks/mute.ts'
import { useTyping } from './hooks/people.ts'
import { Icon } from './icons.tsx'
import type { ConversationItemProps } from './parts.ts'
import { moveFocus } from './popover.tsx'
import { Status } from './status.tsx'

export interface ConversationListProps {
  /** The conversation that is open. */
  selected?: Target | undefined
  onSelect: (target: Target, conversation: Conversation) => void
  /** Only conversations that match. Loads all pages it needs if few do. */
  filter?: ((conversation: Conversation) => boolean) | undefined
}

/** The user's conversations. The arrow keys move in it. */
export function ConversationList({ selected, onSelect, filter }: ConversationListProps) {
  const { strings, parts } = useChat()
  const { conversations, loaded, more, loadMore } = useConversations()
  const Part = parts.ConversationItem ?? ConversationItem
  const shown = filter ? conversations.filter(filter) : conversations
  return (
    <nav className="lq-conversations" aria-label={strings.conversations} aria-busy={!loaded}>
      <ul onKeyDown={(event) => moveFocus(event)}>
        {shown.map((conversation) => {
          const target = targetOf(conversation)
          return (
            <li key={conversation.conversationId}>
              <Part
                conversation={conversation}
                isSelected={selected !== undefined && isSame(selected, target)}
                onSelect={() => onSelect(target, conversation)}
              />
            </li>
          )
        })}
        {!loaded && [0, 1, 2, 3, 4].map((nth) => <li key={nth} className="lq-skeleton" />)}
      </ul>
      {loaded && shown.length === 0 && !more && (
        <div className="lq-empty">
          <strong>{strings.noConversations}</strong>
          <p>{strings.noConversationsHint}</p>
        </div>
      )}
      {more && <LoadMore load={loadMore} count={conversations.length} />}
    </nav>
  )
}

/** Loads the next page when it comes into sight. */
function LoadMore({ load, count }: { load: () => Promise<void>; count: number }) {
  const { strings } = useChat()
  const button = useRef<HTMLButtonElement>(null)
  // An observer only notices changes: after a page of which too little is shown, the button is still in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page needs a new observer
  useEffect(() => {
    const element = button.current
    if (!element) return
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) load().catch(() => undefined)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [load, count])
  return (
    <button
      ref={button}
      type="button"
      className="lq-link lq-load-more"
      onClick={() => void load().catch(() => undefined)}
    >
      {strings.loadMore}
    </button>
  )
}

/** A conversation in the list. */
export function ConversationItem({ conversation, isSelected, onSelect }: ConversationItemProps) {
  const { strings, parts } = useChat()
  const { conversationType, lastMessage, unreadMessageCount, unreadMentionsCount } = conversation
  const party = counterpartOf(conversation)
  const AvatarPart = parts.Avatar ?? Avatar
  const at = lastMessage?.sentAt
  const isUnread = unreadMessageCount > 0
  const { conversationWith: other } = conversation
  const isAgent = 'role' in other && other.role === AGENT_ROLE
  const BadgePart = parts.AgentBadge ?? AgentBadge
  const { isMuted } = useMute(targetOf(conversation))
  return (
    <button
      type="button"
      className="lq-conversation"
      aria-current={isSelected || undefined}
      data-unread={isUnread || undefined}
      onClick={onSelect}
    >
      <AvatarPart {...party} kind={conversationType} withPresence={!isAgent} />
      <span className="lq-conversation-main">
        <span className="lq-conversation-line">
          <span className="lq-conversation-name lq-clip" dir="auto">
            {party.name}
          </span>
          {isAgent && <BadgePart />}
          {conversation.pinnedAt !== undefined && (
            <span title={strings.pinned}>
              <Icon name="pin" size={12} />
              <span className="lq-hidden">{strings.pinned}</span>
            </span>
          )}
          {isMuted && (
            <span title={strings.muted}>
              <Icon name="bellOff" size={12} />
              <span className="lq-hidden">{strings.muted}</span>
            </span>
          )}
          {at !== undefined && (
            <time className="lq-time" title={exactTimeOf(at, strings)}>
              {shortTimeOf(at, strings)}
            </time>
          )}
        </span>
        <span className="lq-conversation-line">
          <Preview conversation={conversation} />
          {isUnread && (
            <span className="lq-badge" data-mention={unreadMentionsCount > 0 || undefined}>
              {unreadMentionsCount > 0 && <span aria-hidden="true">@</span>}
              <span aria-hidden="true">{unreadMessageCount > 99 ? '99+' : unreadMessageCount}</span>
              <span className="lq-hidden">
                {strings.unread(unreadMessageCount)}
                {unreadMentionsCount > 0 && `, ${strings.mentioned}`}
              </span>
            </span>
          )}
        </span>
      </span>
    </button>
  )
}

/** The last message in one line, or that somebody is typing. */
function Preview({ conversation }: { conversation: Conversation }) {
  const { client, strings, parts } = useChat()
  const { uids } = useTyping(targetOf(conversation))
  const StatusPart = parts.Status ?? Status
  const { lastMessage, conversationType } = conversation
  if (uids.length > 0) {
    return <span className="lq-preview lq-preview-typing">{strings.typingShort}</span>
  }
  if (!lastMessage) return <span className="lq-preview lq-clip">{strings.noMessages}</span>
  const isOwn = lastMessage.sender === client.uid
  const isGroup = conversationType === 'group' && lastMessage.category !== 'action'
  const sender = isOwn ? strings.you : senderOf(lastMessage).name.split(/\s/)[0]
  return (
    // The message alone sets the direction: what is in <bdi> doesn't count.
    <span className="lq-preview lq-clip" dir="auto">
      {isOwn && conversationType === 'user' && (
        <bdi>
          <StatusPart message={lastMessage} />
        </bdi>
      )}
      {isGroup && (
        <>
          <bdi>{sender}</bdi>:
        </>
      )}{' '}
      {summaryOf(lastMessage, strings)}
    </span>
  )
}
