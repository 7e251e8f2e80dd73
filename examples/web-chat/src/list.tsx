import type { Conversation, LoquatClient, User } from '@loquat/sdk/client'
import { useEffect, useState } from 'react'
import { type Selection, useChat } from './use-chat.ts'

interface ListProps {
  client: LoquatClient
  selection: Selection | undefined
  onOpen: (conversation: Conversation) => void
  onStart: (selection: Selection) => void
}

/** The user's conversations, newest first, and people to start one with. */
export function List({ client, selection, onOpen, onStart }: ListProps) {
  const { conversations, typing, loaded, more } = useChat(client)
  const others = useOtherUsers(client, conversations)
  const open = selection && client.idOf(selection.target)
  return (
    <ul className="list">
      {conversations.map((one) => (
        <li key={one.conversationId}>
          <button
            type="button"
            className={one.conversationId === open ? 'row open' : 'row'}
            onClick={() => onOpen(one)}
          >
            <Avatar name={one.conversationWith.name} />
            <span className="what">
              <span className="name">{one.conversationWith.name}</span>
              <span className="last">
                {typing[one.conversationId] ? <em>typing…</em> : lastOf(one)}
              </span>
            </span>
            {one.unreadMessageCount > 0 && one.conversationId !== open && (
              <span className="badge">{one.unreadMessageCount}</span>
            )}
          </button>
        </li>
      ))}
      {more && (
        <li>
          <button
            type="button"
            className="quiet"
            onClick={() => void client.loadMoreConversations()}
          >
            Load more
          </button>
        </li>
      )}
      {loaded && others.length > 0 && <li className="heading">People</li>}
      {others.map(({ uid, name }) => (
        <li key={uid}>
          <button
            type="button"
            className="row"
            onClick={() => onStart({ target: { type: 'user', id: uid }, name })}
          >
            <Avatar name={name} />
            <span className="name">{name}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Users without a conversation with this user yet. */
function useOtherUsers(client: LoquatClient, conversations: readonly Conversation[]): User[] {
  const [users, setUsers] = useState<User[]>([])
  useEffect(() => {
    client.api.users.list({ perPage: 50 }).then(
      ({ data }) => setUsers(data),
      () => setUsers([]),
    )
  }, [client])
  const known = new Set(conversations.map(({ conversationId }) => conversationId))
  return users.filter(
    ({ uid }) => uid !== client.uid && !known.has(client.idOf({ type: 'user', id: uid })),
  )
}

function lastOf({ lastMessage }: Conversation): string {
  if (!lastMessage) return ''
  if (lastMessage.deletedAt) return 'Message deleted'
  return String(lastMessage.data.text ?? lastMessage.data.action ?? '')
}

export const Avatar = ({ name }: { name: string }) => (
  <span className="avatar" aria-hidden="true">
    {name.slice(0, 1).toUpperCase()}
  </span>
)
