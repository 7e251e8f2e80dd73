'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { useClient, useStrings } from './chat.tsx'
import { EmojiButton } from './emoji-button.tsx'

/** Adds a reaction, or removes it if the user added it before. */
export function useReact(message: ChatMessage): (reaction: string) => void {
  const client = useClient()
  return (reaction) => {
    const { reactions = [] } = message.data as { reactions?: ReactionCount[] }
    const mine = reactions.some((one) => one.reaction === reaction && one.reactedByMe)
    // The chip doesn't change if it fails.
    client.react(message.id, reaction, !mine).catch(() => undefined)
  }
}

interface ReactionCount {
  reaction: string
  count: number
  reactedByMe?: boolean
}

/** The reactions to a message. */
export function Reactions({ message }: { message: ChatMessage }) {
  const strings = useStrings()
  const react = useReact(message)
  const { reactions = [] } = message.data as { reactions?: ReactionCount[] }
  if (reactions.length === 0) return null
  return (
    <div className="lq-reactions">
      {reactions.map(({ reaction, count, reactedByMe = false }) => (
        <button
          key={reaction}
          type="button"
          className="lq-reaction"
          aria-pressed={reactedByMe}
          onClick={() => react(reaction)}
        >
          <span aria-hidden="true">{reaction}</span>
          <span aria-hidden="true">{count}</span>
          <span className="lq-hidden">{strings.reactions(reaction, count)}</span>
        </button>
      ))}
      <EmojiButton label={strings.react} onPick={react} className="lq-reaction lq-reaction-add" />
    </div>
  )
}
