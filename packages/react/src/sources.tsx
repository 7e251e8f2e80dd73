'use client'
import type { KnowledgeChunk } from '@loquat/sdk'
import type { ChatMessage } from '@loquat/sdk/client'
import { type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useChat, useStrings } from './chat.tsx'
import { type SourceOfMessage, sourcesOf } from './content.ts'
import { Icon } from './icons.tsx'
import type { Cite } from './markdown.tsx'
import { Popover } from './popover.tsx'

/** What an answer of an agent cites. Each source opens the text that the agent has read. */
export function Sources({ message }: { message: ChatMessage }) {
  const strings = useStrings()
  const sources = sourcesOf(message)
  if (sources.length === 0) return null
  return (
    <ul className="lq-sources" aria-label={strings.sources}>
      {sources.map((source) => (
        <li key={source.number}>
          <Source messageId={message.id} source={source} />
        </li>
      ))}
    </ul>
  )
}

interface SourceProps {
  messageId: string
  source: SourceOfMessage
}

function Source({ messageId, source }: SourceProps) {
  const strings = useStrings()
  const [isOpen, setOpen] = useState(false)
  const chip = useRef<HTMLButtonElement>(null)
  const { number, title } = source
  return (
    <>
      <button
        ref={chip}
        type="button"
        className="lq-source"
        data-source={number}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        <b>{number}</b>{' '}
        <span className="lq-clip">
          <bdi>{title}</bdi>
        </span>
      </button>
      {isOpen && (
        <Popover
          anchor={chip}
          label={strings.openSource(number, title)}
          onClose={() => setOpen(false)}
        >
          <Chunk messageId={messageId} source={source} onClose={() => setOpen(false)} />
        </Popover>
      )}
    </>
  )
}

/** The text itself. It may contain anything, so it is shown as text. */
function Chunk({ messageId, source, onClose }: SourceProps & { onClose: () => void }) {
  const { client, strings } = useChat()
  const { id, title, url } = source
  const [chunk, setChunk] = useState<KnowledgeChunk | 'gone'>()
  useEffect(() => {
    let isShown = true
    client.api.messages.getSource(messageId, id).then(
      (found) => isShown && setChunk(found),
      () => isShown && setChunk('gone'),
    )
    return () => {
      isShown = false
    }
  }, [client, messageId, id])
  return (
    <div className="lq-source-chunk">
      <header>
        <span dir="auto">{title}</span>
        <button
          type="button"
          className="lq-tool"
          data-autofocus
          aria-label={strings.close}
          title={strings.close}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard */}
      <section className="lq-source-text" dir="auto" aria-label={title} tabIndex={0}>
        {chunk === undefined && strings.loading}
        {chunk === 'gone' && strings.sourceGone}
        {typeof chunk === 'object' && (
          <>
            {chunk.heading && <small>{chunk.heading}</small>}
            {chunk.text}
          </>
        )}
      </section>
      {url && (
        <a href={url} target="_blank" rel="noreferrer noopener nofollow">
          {strings.openPage}
        </a>
      )}
    </div>
  )
}

/** A mark in the text opens the source below it. The message may be shown twice, so it looks within its own. */
function openSource({ currentTarget }: MouseEvent<HTMLElement>, number: number): void {
  const message = currentTarget.closest('.lq-message')
  const chip = message?.querySelector<HTMLElement>(`[data-source="${number}"]`)
  chip?.focus()
  chip?.click()
}

/** How the numbers of sources in the text of a message are shown. */
export function useCite(message: ChatMessage): Cite {
  const strings = useStrings()
  return useMemo(() => {
    const sources = message.pending ? [] : sourcesOf(message)
    const titles = new Map(sources.map(({ number, title }) => [number, title]))
    return (number) => {
      const title = titles.get(number)
      if (title === undefined) return undefined
      const label = strings.openSource(number, title)
      return (
        <button
          key={number}
          type="button"
          className="lq-cite"
          aria-label={label}
          title={label}
          onClick={(event) => openSource(event, number)}
        >
          {number}
        </button>
      )
    }
  }, [message, strings])
}
