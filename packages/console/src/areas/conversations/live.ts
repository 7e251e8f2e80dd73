import type { EmbeddedMessage, LoggedEvent, Message } from '@loquat/sdk'
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

/** Milliseconds between two requests for events: they count towards the app's rate limits. */
const PAUSE = 300

/**
 * Follows the app's chat events from now on. Calls `start` as soon as it follows them: data fetched before that may lack
 * some events. Returns the error that ended it, and a function that starts again.
 */
export function useEvents(
  appId: string,
  on: { start: () => void; event: (event: ChatEvent) => void },
) {
  const start = useEffectEvent(on.start)
  const onEvent = useEffectEvent(on.event)
  const [error, setError] = useState<unknown>()
  const [attempt, setAttempt] = useState(1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt starts again
  useEffect(() => {
    const ended = new AbortController()
    setError(undefined)
    follow(appId, ended.signal, start, onEvent).catch((reason: unknown) => {
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
  onEvent: (event: ChatEvent) => void,
) {
  const api = manage.app(appId)
  const { meta } = await api.events.list({ limit: 1 }, { signal })
  start()
  const query = { after: meta.last, types: [...TYPES], limit: 500 }
  let last = 0
  for await (const event of api.followEvents(query, { signal })) {
    onEvent(event)
    // Events of one response arrive together. Pausing at the first of them delays the next request.
    const waited = performance.now() - last > 5
    if (waited) await new Promise((resolve) => setTimeout(resolve, PAUSE))
    last = performance.now()
  }
}

/** The conversation that an event belongs to, if any. */
export function conversationOf({ payload }: ChatEvent): string | undefined {
  if ('conversationId' in payload) return payload.conversationId
  if ('message' in payload) return payload.message.conversationId
  return 'group' in payload ? payload.group.conversationId : undefined
}

/** The new message that an event carries: a sent message or an action message. */
export const messageOf = ({ type, payload }: ChatEvent): Message | undefined =>
  'message' in payload && (type === 'message.sent' || type.startsWith('group.member.'))
    ? payload.message
    : undefined

/** The fields that an edit or deletion changed. A message deleted for good has only its ids. */
export function changedOf({ type, payload }: ChatEvent): EmbeddedMessage | undefined {
  if (type !== 'message.edited' && type !== 'message.deleted') return undefined
  return payload.message.data.entities.on.entity
}
