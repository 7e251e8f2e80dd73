'use client'
import type { ReactNode } from 'react'
import { useClient } from './chat.tsx'
import { callsOf, isLargeEmoji, mentionsOf, textOf } from './content.ts'
import { Markdown } from './markdown.tsx'
import type { MessageTextProps } from './parts.ts'
import { useCite } from './sources.tsx'

/** Blocks of code, code, mentions and URLs. A URL doesn't include the punctuation after it. */
const SPECIAL =
  /(```[\s\S]+?```|`[^`\n]+`|<@uid:[^>\s]{1,100}>|https?:\/\/[^\s<>"'`]*[^\s<>"'`.,:;!?)\]}])/g

const isWriting = (message: MessageTextProps['message']) =>
  message.pending === 'sending' && !callsOf(message).waiting

/** The text of a message, with code, mentions and links. Agents write Markdown. */
export function MessageText({ message }: MessageTextProps) {
  const { uid: me } = useClient()
  const cite = useCite(message)
  const text = textOf(message)
  if (text === undefined) return null
  if (message.category === 'agentic') {
    return (
      <div className="lq-text lq-answer" dir="auto" data-writing={isWriting(message) || undefined}>
        <Markdown text={text} cite={cite} />
      </div>
    )
  }
  const names = mentionsOf(message)
  const show = (part: string, nth: number): ReactNode => {
    if (nth % 2 === 0) return part
    if (part.startsWith('```')) {
      return <pre key={nth}>{part.slice(3, -3).replace(/^\w*\n/, '')}</pre>
    }
    if (part.startsWith('`')) return <code key={nth}>{part.slice(1, -1)}</code>
    if (part.startsWith('<@')) {
      const uid = part.slice(6, -1).toLowerCase()
      const name = names.get(uid)
      if (name === undefined) return part
      return (
        <span key={nth} className="lq-mention" data-me={uid === me || undefined}>
          @{name}
        </span>
      )
    }
    return (
      <a key={nth} href={part} target="_blank" rel="noreferrer noopener">
        {part}
      </a>
    )
  }
  return (
    <div className="lq-text" dir="auto" data-large={isLargeEmoji(text) || undefined}>
      {text.split(SPECIAL).map(show)}
    </div>
  )
}
