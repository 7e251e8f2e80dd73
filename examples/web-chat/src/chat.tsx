import { type ChatState, type LoquatClient, type Target, targetOf } from '@loquat/sdk/client'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { List } from './list.tsx'
import { RoomView } from './room.tsx'

/** The state as it is now; renders again with each change. */
export const useChat = (client: LoquatClient): ChatState =>
  useSyncExternalStore(client.subscribe, () => client.state)

export interface Place {
  target: Target
  name: string
  /** The message whose thread is shown beside it. */
  parentId?: string
}

const STATES: Partial<Record<ChatState['connection'], string>> = {
  connecting: 'Connecting …',
  offline: 'No connection. What you write is sent later.',
  refused: 'The server refuses this app. Sign in again.',
}

export function Chat({ client, onLeave }: { client: LoquatClient; onLeave: () => void }) {
  const { connection } = useChat(client)
  const [place, setPlace] = useState<Place>()
  useEffect(() => {
    if (connection === 'signedOut') onLeave()
  }, [connection, onLeave])
  return (
    <div className={`chat ${place ? 'in-room' : ''} ${place?.parentId ? 'in-thread' : ''}`}>
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
          place={place}
          onOpen={(conversation) => {
            const { name } = conversation.conversationWith
            setPlace({ target: targetOf(conversation), name })
          }}
          onStart={setPlace}
        />
      </nav>
      {place ? (
        <RoomView
          key={client.idOf(place.target)}
          client={client}
          place={place}
          onBack={() => setPlace(undefined)}
          onThread={(parentId) => setPlace({ ...place, parentId })}
        />
      ) : (
        <section className="empty">Choose a conversation.</section>
      )}
      {place?.parentId && (
        <RoomView
          key={place.parentId}
          client={client}
          place={place}
          parentId={place.parentId}
          onBack={() => setPlace({ target: place.target, name: place.name })}
        />
      )}
    </div>
  )
}
