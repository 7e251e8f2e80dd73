import type { LoggedEvent, Message } from '@loquat/sdk'
import { useEffect, useEffectEvent, useState } from 'react'
import { checkSession, manage } from '../../shared/manage.ts'

const TYPES = [
  'message.sent',
  'message.edited',
  'message.deleted',
  'message.reaction.added',
  'message.reaction.removed',
  'message.pinned',
  'message.unpinned',
  'conversation.delivered',
  'conversation.read',
  'conversation.cleared',
  'group.created',
  'group.updated',
  'group.deleted',
  'group.member.added',
  'group.member.joined',
  'group.member.left',
  'group.member.kicked',
  'group.member.banned',
  'group.member.unbanned',
  'group.member.scope.changed',
] as const
export type ChatEvent = LoggedEvent<(typeof TYPES)[number]>

/** Milliseconds between two requests for events: they count against the limits of the app. */
const PAUSE = 300

/**
 * Hears every event of the app's chat from now on. `start` is called once they are heard: what was read before may lack
 * some. Returns what ended it, and a way to begin again.
 */
export function useEvents(
  appId: string,
  on: { start: () => void; event: (event: ChatEvent) => void },
) {
  const start = useEffectEvent(on.start)
  const hear = useEffectEvent(on.event)
  const [error, setError] = useState<unknown>()
  const [attempt, setAttempt] = useState(1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt begins anew
  useEffect(() => {
    const ended = new AbortController()
    setError(undefined)
    follow(appId, ended.signal, start, hear).catch((reason: unknown) => {
      if (ended.signal.aborted) return
      setError(reason)
      checkSession(reason)
    })
    return () => ended.abort()
  }, [appId, attempt])
  return { error, retry: () => setAttempt(attempt + 1) }
}

async function follow(
  appId: string,
  signal: AbortSignal,
  start: () => void,
  hear: (event: ChatEvent) => void,
) {
  const api = manage.app(appId)
  const { meta } = await api.events.list({ limit: 1 }, { signal })
  start()
  const query = { after: meta.last, types: [...TYPES], limit: 500 }
  let last = 0
  for await (const event of api.followEvents(query, { signal })) {
    hear(event)
    // Events of one answer come at once; the first of each is where the next request can be put off.
    const waited = performance.now() - last > 5
    if (waited) await new Promise((resolve) => setTimeout(resolve, PAUSE))
    last = performance.now()
  }
}

/** The conversation that an event is about, where it is about one. */
export function conversationOf({ payload }: ChatEvent): string | undefined {
  if ('conversationId' in payload) return payload.conversationId
  if ('message' in payload) return payload.message.conversationId
  return 'group' in payload ? payload.group.conversationId : undefined
}

/** The new message that an event carries: one that was sent, or the trace of an action. */
export const messageOf = ({ type, payload }: ChatEvent) =>
  'message' in payload && (type === 'message.sent' || type.startsWith('group.member.'))
    ? payload.message
    : undefined

type Changed = Partial<Message> & Pick<Message, 'id'>

/** What an event tells of a message to be another now: edited, or without what it said; of one that is gone only ids. */
export function changedOf({ type, payload }: ChatEvent): Changed | undefined {
  if (type !== 'message.edited' && type !== 'message.deleted') return undefined
  const { on } = payload.message.data.entities as { on: { entity: Changed } }
  return on.entity
}
