'use client'
import type { Message, Target } from '@loquat/sdk/client'
import { useState } from 'react'
import { Avatar } from './avatar.tsx'
import { useChat } from './chat.tsx'
import { partyOf, senderOf, summaryOf } from './content.ts'
import { exactTimeOf, shortTimeOf } from './format.ts'
import { useConversation } from './hooks/conversations.ts'
import { useSearch } from './hooks/search.ts'
import { Pane } from './pane.tsx'
import { moveFocus } from './popover.tsx'

/** Where a found message is. */
export interface Found {
  target: Target
  messageId: string
  /** The message whose thread it is in. */
  parentId: string | undefined
}

export interface SearchProps {
  /** The conversation to search first. Without it, all conversations are searched. */
  target?: Target | undefined
  onSelect: (found: Found) => void
  onClose: () => void
}

/** Finds messages by their text, in one conversation or in all of them. */
export function Search({ target, onSelect, onClose }: SearchProps) {
  const { client, strings } = useChat()
  const [text, setText] = useState('')
  const [isHere, setHere] = useState(target !== undefined)
  const where = isHere ? target : undefined
  const { results, searching, error } = useSearch(text, where)
  const key = text.trim()
  return (
    <Pane title={strings.search} onClose={onClose}>
      <div className="lq-search-head">
        <input
          className="lq-input"
          type="search"
          // biome-ignore lint/a11y/noAutofocus: the user asked for the search
          autoFocus
          value={text}
          placeholder={strings.searchMessages}
          aria-label={strings.searchMessages}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={({ key: pressed }) => pressed === 'Escape' && text === '' && onClose()}
        />
        {target && <Scope target={target} isHere={isHere} onChange={setHere} />}
      </div>
      <p className="lq-hidden" role="status">
        {key !== '' && !searching && strings.found(results.length)}
      </p>
      {error && (
        <p className="lq-failed" role="alert">
          {strings.error}
        </p>
      )}
      <ul className="lq-results" aria-busy={searching} onKeyDown={(event) => moveFocus(event)}>
        {results.map((message) => (
          <li key={message.id}>
            <Result
              message={message}
              searchKey={key}
              isEverywhere={where === undefined}
              onSelect={() => onSelect(foundOf(message, client.uid))}
            />
          </li>
        ))}
      </ul>
      {results.length === 0 && !searching && !error && (
        <p className="lq-empty">{key === '' ? strings.searchHint : strings.nothingFound(key)}</p>
      )}
    </Pane>
  )
}

const foundOf = (message: Message, me: string): Found => {
  const { receiverType: type, receiver, sender, id, parentId } = message
  const other = type === 'group' || sender === me ? receiver : sender
  return { target: { type, id: other }, messageId: id, parentId }
}

interface ScopeProps {
  target: Target
  isHere: boolean
  onChange: (isHere: boolean) => void
}

function Scope({ target, isHere, onChange }: ScopeProps) {
  const { strings } = useChat()
  const name = useConversation(target)?.conversationWith.name ?? target.id
  return (
    <fieldset className="lq-tabs" aria-label={strings.search}>
      <button
        type="button"
        className="lq-clip"
        aria-pressed={isHere}
        onClick={() => onChange(true)}
      >
        {strings.searchIn(name)}
      </button>
      <button type="button" aria-pressed={!isHere} onClick={() => onChange(false)}>
        {strings.searchAll}
      </button>
    </fieldset>
  )
}

interface ResultProps {
  message: Message
  searchKey: string
  isEverywhere: boolean
  onSelect: () => void
}

function Result({ message, searchKey, isEverywhere, onSelect }: ResultProps) {
  const { client, strings, parts } = useChat()
  const AvatarPart = parts.Avatar ?? Avatar
  const sender = senderOf(message)
  const isOwn = message.sender === client.uid
  const receiver = partyOf(message, 'receiver')?.name ?? message.receiver
  const isElsewhere = isEverywhere && (message.receiverType === 'group' || isOwn)
  return (
    <button type="button" className="lq-result" onClick={onSelect}>
      <AvatarPart {...sender} />
      <span className="lq-conversation-main">
        <span className="lq-conversation-line">
          <span className="lq-conversation-name lq-clip">
            <bdi>{isOwn ? strings.you : sender.name}</bdi>
            {isElsewhere && (
              <span className="lq-soft">
                {' → '}
                <bdi>{receiver}</bdi>
              </span>
            )}
          </span>
          <time className="lq-time" title={exactTimeOf(message.sentAt, strings)}>
            {shortTimeOf(message.sentAt, strings)}
          </time>
        </span>
        <Excerpt text={summaryOf(message, strings)} searchKey={searchKey} />
      </span>
    </button>
  )
}

const BEFORE = 30

/** The text around what was searched for. */
function Excerpt({ text, searchKey }: { text: string; searchKey: string }) {
  const at = text.toLowerCase().indexOf(searchKey.toLowerCase())
  const from = at > BEFORE ? text.indexOf(' ', at - BEFORE) + 1 : 0
  const end = at + searchKey.length
  return (
    <span className="lq-excerpt" dir="auto">
      {at < 0 ? (
        text
      ) : (
        <>
          {from > 0 && '…'}
          {text.slice(from > at ? 0 : from, at)}
          <mark>{text.slice(at, end)}</mark>
          {text.slice(end)}
        </>
      )}
    </span>
  )
}
