import type { ChatMessage, LoquatClient } from '@loquat/sdk/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { MessageView } from './message.tsx'
import { type Selection, useChat } from './use-chat.ts'

interface RoomProps {
  client: LoquatClient
  selection: Selection
  parentId?: string
  onBack: () => void
  onThread?: (parentId: string) => void
}

/** A conversation or thread with its messages. */
export function RoomView({ client, selection, parentId, onBack, onThread }: RoomProps) {
  const { target, name } = selection
  const { rooms, typing } = useChat(client)
  const key = parentId === undefined ? client.idOf(target) : `thread_${parentId}`
  const room = rooms[key]
  const { type, id } = target
  useEffect(() => {
    client.open({ type, id }, parentId)
    return () => client.close(key)
  }, [client, type, id, parentId, key])
  const newest = room?.messages.findLast(({ pending }) => !pending)?.id
  useReadMark(client, selection, parentId === undefined ? newest : undefined)
  const end = useRef<HTMLDivElement>(null)
  const count = room?.messages.length ?? 0
  useLayoutEffect(() => {
    if (count > 0) end.current?.scrollIntoView({ block: 'end' })
  }, [count])
  const writers = parentId === undefined ? typing[key] : undefined
  return (
    <section className={parentId === undefined ? 'room' : 'room thread'}>
      <header>
        <button type="button" className="quiet back" aria-label="Back" onClick={onBack}>
          ←
        </button>
        <strong>{parentId === undefined ? name : 'Thread'}</strong>
      </header>
      <div className="messages">
        {room?.more && (
          <button type="button" className="quiet" onClick={() => void client.loadOlder(key)}>
            Load older messages
          </button>
        )}
        {room?.messages.map((message) => (
          <MessageView
            key={message.muid ?? message.id}
            client={client}
            message={message}
            onThread={onThread && (() => onThread(message.id))}
            onResend={() => void client.resend(message).catch(ignore)}
          />
        ))}
        <p className="typing" aria-live="polite">
          {writers ? `${writers.join(', ')} ${writers.length === 1 ? 'is' : 'are'} typing…` : ''}
        </p>
        <div ref={end} />
      </div>
      <Composer client={client} selection={selection} parentId={parentId} />
    </section>
  )
}

/** Marks messages as read while the window is visible. */
function useReadMark(client: LoquatClient, { target }: Selection, newest: string | undefined) {
  const { type, id } = target
  useEffect(() => {
    if (newest === undefined) return
    const mark = () => {
      if (document.visibilityState === 'visible') client.markRead({ type, id }).catch(ignore)
    }
    mark()
    document.addEventListener('visibilitychange', mark)
    return () => document.removeEventListener('visibilitychange', mark)
  }, [client, type, id, newest])
}

/** The message itself or the connection state shows the error. */
const ignore = () => undefined

interface ComposerProps {
  client: LoquatClient
  selection: Selection
  parentId: ChatMessage['parentId'] | undefined
}

function Composer({ client, selection: { target }, parentId }: ComposerProps) {
  const [text, setText] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() === '') return
        setText('')
        client.send(target, { text: text.trim() }, parentId).catch(ignore)
      }}
    >
      <input
        value={text}
        aria-label="Message"
        placeholder={parentId === undefined ? 'Message' : 'Reply'}
        onChange={(event) => {
          setText(event.target.value)
          client.typing(target, event.target.value !== '')
        }}
      />
      <button type="submit">Send</button>
    </form>
  )
}
