'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { useStrings } from './chat.tsx'
import { Icon, type IconName } from './icons.tsx'

/** How far one of the user's own messages got. */
export function Status({ message }: { message: ChatMessage }) {
  const strings = useStrings()
  const { pending, readAt, deliveredAt } = message
  const [name, text]: [IconName, string] =
    pending === 'failed'
      ? ['warn', strings.failed]
      : pending
        ? ['clock', strings.sending]
        : readAt !== undefined
          ? ['checks', strings.read]
          : deliveredAt !== undefined
            ? ['checks', strings.delivered]
            : ['check', strings.sent]
  return (
    <span className="lq-status" data-read={readAt !== undefined || undefined} title={text}>
      <Icon name={name} size={14} />
      <span className="lq-hidden">{text}</span>
    </span>
  )
}
