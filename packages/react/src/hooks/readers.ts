'use client'
import type { Target } from '@loquat/sdk/client'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useClient } from '../chat.tsx'
import { useChatState } from './chat-state.ts'

/** How far each member has read, as the id of a message. */
type Marks = ReadonlyMap<string, string>

const NONE: Marks = new Map()

function withMarks(marks: Marks, uids: readonly string[], upTo: string): Marks {
  const further = uids.filter((uid) => Number(marks.get(uid) ?? 0) < Number(upTo))
  if (further.length === 0) return marks
  return new Map([...marks, ...further.map((uid) => [uid, upTo] as const)])
}

/**
 * The UIDs of those who have read a message of the user in a group. Reads the receipts once per connection: from then on, events
 * say how far each member has read.
 */
export function useReaders(target: Target, messageId: string | undefined): readonly string[] {
  const client = useClient()
  const room = client.idOf(target)
  const isOnline = useChatState(({ connection }) => connection === 'online')
  const [marks, setMarks] = useState(NONE)
  const latest = useRef(messageId)
  useLayoutEffect(() => {
    latest.current = messageId
  })
  const isWanted = target.type === 'group' && messageId !== undefined
  useEffect(() => {
    if (!isWanted) return
    return client.on('conversation.read', ({ conversationId, uid, messageId: upTo }) => {
      if (conversationId === room) setMarks((before) => withMarks(before, [uid], upTo))
    })
  }, [client, isWanted, room])
  useEffect(() => {
    const { current: id } = latest
    if (!isWanted || !isOnline || id === undefined) return
    const note = (uids: string[]) => setMarks((before) => withMarks(before, uids, id))
    client.api.messages.listReceipts(id, { limit: 100 }).then(
      ({ data }) => note(data.flatMap(({ recipient, readAt }) => (readAt ? [recipient] : []))),
      // The next connection reads them again.
      () => undefined,
    )
  }, [client, isWanted, isOnline])
  return useMemo(() => {
    if (messageId === undefined) return []
    const readers = [...marks].filter(([, upTo]) => Number(upTo) >= Number(messageId))
    return readers.map(([uid]) => uid).filter((uid) => uid !== client.uid)
  }, [client, marks, messageId])
}
