'use client'
import type { Target } from '@loquat/sdk/client'
import { RoomProvider } from './channel.tsx'
import { useChat } from './chat.tsx'
import { Composer } from './composer.tsx'
import { useThread } from './hooks/messages.ts'
import { Icon } from './icons.tsx'
import { Message } from './message.tsx'
import { MessageList } from './message-list.tsx'
import { Missing } from './problem.tsx'

export interface ThreadProps {
  target: Target
  /** The message that started the thread. */
  parentId: string
  onClose: () => void
  /** A reply to show, for example a search result. A new object jumps again. */
  jumpTo?: { id: string } | undefined
}

/** A message, the replies to it, and a composer for more. */
export function Thread({ target, parentId, onClose, jumpTo }: ThreadProps) {
  const { strings } = useChat()
  return (
    <RoomProvider key={parentId} target={target} parentId={parentId} jumpTo={jumpTo}>
      <aside className="lq-channel lq-thread" aria-label={strings.thread}>
        <header className="lq-header">
          <div className="lq-header-names">
            <h2>{strings.thread}</h2>
          </div>
          <button type="button" className="lq-tool" aria-label={strings.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        <Parent target={target} parentId={parentId} />
        <MessageList />
        <Composer />
      </aside>
    </RoomProvider>
  )
}

function Parent({ target, parentId }: Pick<ThreadProps, 'target' | 'parentId'>) {
  const { strings, parts } = useChat()
  const { parent } = useThread(target, parentId)
  const Part = parts.Message ?? Message
  return (
    <div className="lq-parent">
      {parent ? <Part message={parent} /> : <Missing value={parent} />}
      {parent && (
        <p className="lq-divider">
          <span>{strings.replies(parent.replyCount ?? 0)}</span>
        </p>
      )}
    </div>
  )
}
