'use client'
import type { LoquatClient, Target, User } from '@loquat/sdk/client'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useClient } from '../chat.tsx'
import { useChatState } from './chat-state.ts'

/** Whether a user is online, if the client follows presence. */
export const usePresence = (uid: string): 'online' | 'offline' | undefined =>
  useChatState(({ presence }) => (Object.hasOwn(presence, uid) ? presence[uid] : undefined))

export interface Typing {
  /** The UIDs of the users who are typing. */
  uids: readonly string[]
  /** Call it on every keystroke, and with false when the text is empty again. */
  type: (now?: boolean) => void
}

const NOBODY: readonly string[] = []

/** Who is typing in a conversation. */
export function useTyping(target: Target): Typing {
  const client = useClient()
  const key = client.idOf(target)
  const uids = useChatState(({ typing }) => typing[key]) ?? NOBODY
  const { type: kind, id } = target
  const type = useCallback(
    (now = true) => client.typing({ type: kind, id }, now),
    [client, kind, id],
  )
  return { uids, type }
}

export interface Unread {
  messages: number
  mentions: number
  conversations: number
}

/** What is unread in the conversations that are loaded. */
export function useUnread(): Unread {
  const all = useChatState(({ conversations }) => conversations)
  return useMemo(() => {
    const unread = all.filter(({ unreadMessageCount: count }) => count > 0)
    return {
      messages: unread.reduce((sum, one) => sum + one.unreadMessageCount, 0),
      mentions: all.reduce((sum, one) => sum + one.unreadMentionsCount, 0),
      conversations: unread.length,
    }
  }, [all])
}

const users = new WeakMap<LoquatClient, Map<string, Promise<User>>>()

/** A user, fetched once for all components, until `forgetUser`. Null if it can't be fetched. */
export function useUser(uid: string | undefined): User | null | undefined {
  const client = useClient()
  const [found, setFound] = useState<{ uid: string; user: User | null }>()
  useEffect(() => {
    if (uid === undefined) return
    const known = users.get(client) ?? new Map<string, Promise<User>>()
    users.set(client, known)
    const fetching = known.get(uid) ?? client.api.users.get(uid)
    known.set(uid, fetching)
    let isCurrent = true
    fetching.then(
      (user) => isCurrent && setFound({ uid, user }),
      () => {
        known.delete(uid)
        if (isCurrent) setFound({ uid, user: null })
      },
    )
    return () => {
      isCurrent = false
    }
  }, [client, uid])
  return found?.uid === uid ? found?.user : undefined
}

/** Makes components that are mounted from now on fetch a user again, because this client has changed something about it. */
export function forgetUser(client: LoquatClient, uid: string): void {
  users.get(client)?.delete(uid)
}

const WAIT_MS = 200

export interface People {
  users: readonly User[]
  searching: boolean
}

/** Users whose name contains the text, without the user: the first 30. */
export function usePeople(text: string): People {
  const client = useClient()
  const [people, setPeople] = useState<People>({ users: [], searching: true })
  const key = text.trim()
  useEffect(() => {
    const ended = new AbortController()
    const find = async () => {
      const query = { perPage: 30, sortBy: 'name', ...(key !== '' && { searchKey: key }) } as const
      setPeople((before) => ({ ...before, searching: true }))
      try {
        const { data } = await client.api.users.list(query, { signal: ended.signal })
        setPeople({ users: data.filter(({ uid }) => uid !== client.uid), searching: false })
      } catch {
        if (!ended.signal.aborted) setPeople({ users: [], searching: false })
      }
    }
    const timer = setTimeout(find, key === '' ? 0 : WAIT_MS)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [client, key])
  return people
}
