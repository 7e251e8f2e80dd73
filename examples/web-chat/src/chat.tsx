import { type ChatState, type LoquatClient, targetOf } from '@loquat/sdk/client'
import { useEffect, useState } from 'react'
import { List } from './list.tsx'
import { RoomView } from './room.tsx'
import { type Selection, useChat } from './use-chat.ts'

const STATES: Partial<Record<ChatState['connection'], string>> = {
  connecting: 'Connecting…',
  offline: 'No connection. Your messages will be sent when you’re back online.',
  refused: 'The server rejected the connection. Sign in again.',
}

export function Chat({ client, onLeave }: { client: LoquatClient; onLeave: () => void }) {
  const { connection } = useChat(client)
  const [selection, setSelection] = useState<Selection>()
  useEffect(() => {
    if (connection === 'signedOut') onLeave()
  }, [connection, onLeave])
  return (
    <div className={`chat ${selection ? 'in-room' : ''} ${selection?.parentId ? 'in-thread' : ''}`}>
      <nav>
        <header>
          <strong>{client.uid}</strong>
          <button type="button" className="quiet" onClick={onLeave}>
            Sign out
          </button>
        </header>
        {STATES[connection] && <p className="notice">{STATES[connection]}</p>}
        <List
          client={client}
          selection={selection}
          onOpen={(conversation) => {
            const { name } = conversation.conversationWith
            setSelection({ target: targetOf(conversation), name })
          }}
          onStart={setSelection}
        />
      </nav>
      {selection ? (
        <RoomView
          key={client.idOf(selection.target)}
          client={client}
          selection={selection}
          onBack={() => setSelection(undefined)}
          onThread={(parentId) => setSelection({ ...selection, parentId })}
        />
      ) : (
        <section className="empty">Select a conversation to start chatting.</section>
      )}
      {selection?.parentId && (
        <RoomView
          key={selection.parentId}
          client={client}
          selection={selection}
          parentId={selection.parentId}
          onBack={() => setSelection({ target: selection.target, name: selection.name })}
        />
      )}
    </div>
  )
}
