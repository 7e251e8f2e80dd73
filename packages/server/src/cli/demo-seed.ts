import { markConversationRead } from '../areas/conversations/actions.ts'
import { createGroup } from '../areas/groups/actions.ts'
import { sendMessage } from '../areas/messages/send.actions.ts'
import { addMessageReaction } from '../areas/reactions/actions.ts'
import { createUser } from '../areas/users/actions.ts'
import type { Actor, ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { Limiter } from '../platform/cache/limiter.ts'
import { GROUPS, type Line, PEOPLE, TALKS, type Talk } from './demo-data.ts'

/** Adds the demo data with the actions that requests use, so that it has all its counters and events. */
export async function seedDemo(deps: Deps, app: ServedApp): Promise<void> {
  const caller = { app, settings: {}, credential: Buffer.alloc(0), scope: 'fullAccess' as const }
  const theApp: Actor = { ...caller, kind: 'app' }
  const as = (uid: string): Actor => ({ ...caller, kind: 'appOnBehalf', uid })
  for (const user of PEOPLE) await createUser(deps, theApp, user)
  const counting = { ...deps, tries: new Limiter(deps.cache) }
  for (const group of GROUPS) await createGroup(counting, theApp, group)

  const say = async (
    talk: Talk,
    { from, text, reactions = {}, replies = [] }: Line,
    to?: string,
  ) => {
    const answer = await sendMessage(deps, as(from), {
      ...counterpartOf(talk, from),
      data: { text },
      ...(to !== undefined && { parentMessageId: to }),
    })
    const { id } = JSON.parse(answer).data as { id: string }
    for (const [reaction, uids] of Object.entries(reactions)) {
      for (const uid of uids) await addMessageReaction(deps, as(uid), { id, reaction })
    }
    for (const reply of replies) await say(talk, reply, id)
  }
  for (const talk of TALKS) {
    for (const line of talk.read) await say(talk, line)
    for (const uid of peopleIn(talk)) {
      const { receiver: withId, receiverType: kind } = counterpartOf(talk, uid)
      await markConversationRead(deps, as(uid), { uid, kind, withId }, undefined)
    }
    for (const line of talk.unread ?? []) await say(talk, line)
  }
}

function peopleIn({ in: where }: Talk): string[] {
  if (typeof where !== 'string') return where
  const { owner = '', members } = GROUPS.find(({ guid }) => guid === where) ?? {}
  return [owner, ...(members?.participants ?? [])]
}

/** The other side of the conversation, as this person sees it. */
function counterpartOf({ in: where }: Talk, uid: string) {
  if (typeof where === 'string') return { receiver: where, receiverType: 'group' as const }
  const [one, other] = where
  return { receiver: one === uid ? other : one, receiverType: 'user' as const }
}
