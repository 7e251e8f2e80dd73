import type { ActionMessage, ChatMessage, LoquatClient } from '@loquat/sdk/client'

const REACTIONS = ['👍', '❤️', '😂']

interface MessageProps {
  client: LoquatClient
  message: ChatMessage
  onThread: (() => void) | undefined
  onResend: () => void
}

export function MessageView({ client, message, onThread, onResend }: MessageProps) {
  if (message.category === 'action') return <p className="action">{actionOf(message)}</p>
  const { sender, data, deletedAt, pending, replyCount = 0 } = message
  const { reactions = [], entities } = data
  const own = sender === client.uid
  const react = (reaction: string) => {
    const mine = reactions.some((one) => one.reaction === reaction && one.reactedByMe)
    client.react(message.id, reaction, !mine).catch(() => undefined)
  }
  return (
    <article className={own ? 'message own' : 'message'}>
      {!own && <span className="sender">{entities.sender.entity.name ?? sender}</span>}
      <div className="bubble">{deletedAt ? <em>Message deleted</em> : String(data.text ?? '')}</div>
      <footer>
        <time>{timeOf(message)}</time>
        {own && <span className="mark">{markOf(message)}</span>}
        {pending === 'failed' && (
          <button type="button" className="quiet" onClick={onResend}>
            Retry
          </button>
        )}
        {!pending && !deletedAt && (
          <span className="tools">
            {REACTIONS.map((reaction) => (
              <button
                key={reaction}
                type="button"
                className="quiet"
                onClick={() => react(reaction)}
              >
                {reaction}
              </button>
            ))}
            {onThread && (
              <button type="button" className="quiet" onClick={onThread}>
                Reply
              </button>
            )}
          </span>
        )}
      </footer>
      {reactions.length > 0 && (
        <div className="reactions">
          {reactions.map(({ reaction, count, reactedByMe }) => (
            <button
              key={reaction}
              type="button"
              className={reactedByMe ? 'mine' : ''}
              onClick={() => react(reaction)}
            >
              {reaction} {count}
            </button>
          ))}
        </div>
      )}
      {replyCount > 0 && onThread && (
        <button type="button" className="replies" onClick={onThread}>
          {replyCount === 1 ? '1 reply' : `${replyCount} replies`}
        </button>
      )}
    </article>
  )
}

const timeOf = ({ sentAt }: ChatMessage) =>
  new Date(sentAt * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

function markOf({ pending, readAt, deliveredAt }: ChatMessage): string {
  if (pending) return pending === 'failed' ? 'not sent' : 'sending…'
  return readAt ? 'read' : deliveredAt ? 'delivered' : 'sent'
}

function actionOf({ data, sender }: ActionMessage): string {
  const { by, on } = data.entities
  const name = on.entityType === 'user' ? on.entity.name : ''
  return `${by.entity.name ?? sender} ${data.action} ${name}`
}
