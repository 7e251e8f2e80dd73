import { markConversationRead } from '../areas/conversations/actions.ts'
import {
  importGroups,
  importMembers,
  importMessages,
  importUsers,
  type Outcomes,
} from '../areas/imports/actions.ts'
import { sendMessage } from '../areas/messages/send.actions.ts'
import { addMessageReaction } from '../areas/reactions/actions.ts'
import type { Actor, ServedApp } from '../core/actor.ts'
import type { Deps } from '../deps.ts'
import { GROUPS, type Line, PEOPLE, TALKS, type Talk } from './demo-data.ts'

const DAY = 24 * 60 * 60
/** How long the company exists, in seconds. */
const AGE = 3 * DAY

/**
 * Adds the demo data with the actions that requests use. The past is imported, so that messages have believable times. What is
 * new is sent, so that there are events.
 */
export async function seedDemo(deps: Deps, app: ServedApp): Promise<void> {
  const caller = { app, settings: {}, credential: Buffer.alloc(0), scope: 'fullAccess' as const }
  const theApp: Actor = { ...caller, kind: 'app' }
  const as = (uid: string): Actor => ({ ...caller, kind: 'appOnBehalf', uid })
  const now = Math.floor(Date.now() / 1000)
  const createdAt = now - AGE
  check(
    await importUsers(
      deps,
      theApp,
      PEOPLE.map((user) => ({ ...user, createdAt })),
    ),
  )
  const groups = GROUPS.map(({ members: _, ...group }) => ({ type: 'public', ...group, createdAt }))
  check(await importGroups(deps, theApp, groups))
  const members = GROUPS.flatMap(({ guid, members }) =>
    (members?.participants ?? []).map((uid) => ({
      ...{ memberId: `${guid}_member_${uid}`, guid, uid, joinedAt: createdAt },
    })),
  )
  check(await importMembers(deps, theApp, members))

  let nth = 0
  /** Imports or sends a message, and returns its id. */
  const say = async (talk: Talk, { from, text, ago }: Line, parentId?: string): Promise<string> => {
    const content = { ...counterpartOf(talk, from), data: { text } }
    if (ago === undefined) {
      const parent = parentId !== undefined && { parentMessageId: parentId }
      const answer = await sendMessage(deps, as(from), { ...content, ...parent })
      return JSON.parse(answer).data.id
    }
    const muid = `demo-${++nth}`
    const item = { ...content, muid, sender: from, sentAt: now - ago * 60, parentId }
    const { [muid]: outcome } = check(await importMessages(deps, theApp, [item]))
    return outcome?.data?.id ?? ''
  }
  const talkOf = async (talk: Talk, line: Line, parentId?: string) => {
    const id = await say(talk, line, parentId)
    for (const [reaction, uids] of Object.entries(line.reactions ?? {})) {
      for (const uid of uids) await addMessageReaction(deps, as(uid), { id, reaction })
    }
    for (const reply of line.replies ?? []) await talkOf(talk, reply, id)
  }
  for (const talk of TALKS) {
    for (const line of talk.read) await talkOf(talk, line)
    for (const uid of peopleIn(talk)) {
      const { receiver: withId, receiverType: kind } = counterpartOf(talk, uid)
      await markConversationRead(deps, as(uid), { uid, kind, withId }, undefined)
    }
    for (const line of talk.unread ?? []) await talkOf(talk, line)
  }
}

/** An import reports each item. None of these may fail. */
function check<T>(outcomes: Outcomes<T>): Outcomes<T> {
  for (const { error } of Object.values(outcomes)) if (error) throw new Error(error.message)
  return outcomes
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
