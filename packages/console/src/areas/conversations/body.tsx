import type { Message } from '@loquat/sdk'
import { useState } from 'react'
import { Icon } from '../../shared/icons.tsx'
import { Json } from '../../shared/json.tsx'
import { SafeLink, webUrl } from '../../shared/safe-link.tsx'
import { type Attachment, attachmentsOf, party, payloadOf, summaryOf, textOf } from './content.ts'

/** The content of a message. */
export function Body({ message }: { message: Message }) {
  if (message.deletedAt) {
    return <p className="message-gone">Deleted{message.deletedBy && ` by ${message.deletedBy}`}</p>
  }
  const text = textOf(message)
  const payload = payloadOf(message)
  return (
    <>
      {message.quotedMessage && <Quoted quoted={message.quotedMessage} />}
      {text !== undefined && (
        <p className="message-text" dir="auto">
          <Linked text={text} />
        </p>
      )}
      {attachmentsOf(message).map((attachment, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the attachments of a message never change
        <Attached key={at} attachment={attachment} />
      ))}
      {payload !== undefined && (
        <Json value={payload} label={`${message.category} ${message.type}`} />
      )}
    </>
  )
}

function Quoted({ quoted }: { quoted: NonNullable<Message['quotedMessage']> }) {
  // A deleted message has nothing but its id.
  const message = quoted.data ? ({ ...quoted, data: quoted.data } as Message) : undefined
  return (
    <blockquote className="quoted" dir="auto">
      <strong>{message ? (party(message, 'sender')?.name ?? quoted.sender) : ''}</strong>{' '}
      {message ? summaryOf(message) : 'Deleted message'}
    </blockquote>
  )
}

/** The text, with its URLs as links. */
const Linked = ({ text }: { text: string }) =>
  text
    .split(/(https?:\/\/[^\s<>"']+)/g)
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity
    .map((part, at) => (at % 2 === 1 ? <SafeLink key={at} href={part} /> : part))

const sizeOf = (bytes: number) =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`

function Attached({ attachment: { url, name, mimeType, size } }: { attachment: Attachment }) {
  const [failed, setFailed] = useState(false)
  const picture = mimeType.startsWith('image/') && !failed ? webUrl(url) : undefined
  return (
    <div className="attached">
      {picture && <img src={picture} alt={name} loading="lazy" onError={() => setFailed(true)} />}
      <p>
        <Icon name="file" />
        <SafeLink href={url}>{name}</SafeLink>
        {size !== undefined && <small className="soft">{sizeOf(size)}</small>}
      </p>
    </div>
  )
}
