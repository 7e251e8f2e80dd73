import type { Message } from '@loquat/sdk'
import { Json } from '../../shared/json.tsx'
import { SafeLink } from '../../shared/safe-link.tsx'
import { Attached } from './attached.tsx'
import { attachmentsOf, party, payloadOf, summaryOf, textOf } from './content.ts'

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
