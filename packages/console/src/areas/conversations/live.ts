import type { LoggedEvent } from '@loquat/sdk'
import { useEffect, useEffectEvent } from 'react'
import { manage } from '../../shared/manage.ts'

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
 * Hears every event of the app's chat from now on. `onStart` is called once they are heard: what was read before may lack
 * some. Returns nothing; what goes wrong for good is given to `onEnd`.
 */
export function useEvents(
  appId: string,
  on: { start: () => void; event: (event: ChatEvent) => void; end: (error: unknown) => void },
) {
  const start = useEffectEvent(on.start)
  const hear = useEffectEvent(on.event)
  const end = useEffectEvent(on.end)
  useEffect(() => {
    const ended = new AbortController()
    follow(appId, ended.signal, start, hear).catch((error: unknown) => {
      if (!ended.signal.aborted) end(error)
    })
    return () => ended.abort()
  }, [appId])
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
