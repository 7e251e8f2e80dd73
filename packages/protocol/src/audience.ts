import type { EventPayload, EventType } from './events.ts'
import type { MessageRecord } from './records.ts'

/** Who is told of an event, live. */
export interface Audience {
  /** The members of this group, … */
  group?: string
  /** … of them only these, … */
  only?: string[]
  /** … and these users, members or not. */
  users?: string[]
  /** Every user of the app. */
  everyone?: true
  /** Who did it. Nobody who blocks this user, or is blocked, is told; blocks do not act on other events. */
  by?: string
  /** The frame tells no more than that it happened. */
  bare?: true
}

interface Telling<P> {
  /** For the documentation. */
  who: string
  of(payload: P): Audience | undefined
}

type Audiences = { [T in EventType]: Telling<EventPayload<T>> }

const NOBODY = { who: 'nobody', of: () => undefined }
const OWNER = {
  who: "the user's own devices",
  of: ({ uid }: { uid: string }): Audience => ({ users: [uid] }),
}

const GROUP_ID = 'group_'
const PAIR = '_user_'

/** The other side of a conversation between two, by its printed id. */
function otherSide(conversationId: string, uid: string): string {
  return conversationId.startsWith(uid + PAIR)
    ? conversationId.slice(uid.length + PAIR.length)
    : conversationId.slice(0, -(uid.length + PAIR.length))
}

type Placed = Pick<MessageRecord, 'sender' | 'receiver' | 'receiverType'>

const ofMessage = ({ sender, receiver, receiverType }: Placed, by = sender): Audience =>
  receiverType === 'group' ? { group: receiver } : { users: [sender, receiver], by }

/** An action message of the app itself names but one of the two; the message that it tells of, both. */
function ofChange({ message }: { message: MessageRecord }): Audience {
  const { on } = (message.data.entities ?? {}) as { on?: { entity: MessageRecord } }
  return ofMessage(on?.entity ?? message, message.sender)
}

const MEMBERS = {
  who: 'members, and the user concerned',
  of: ({ group, members }: EventPayload<'group.member.joined'>): Audience => ({
    group: group.guid,
    users: Object.keys(members),
  }),
}

/** Of a private group only who was a member has ever known. */
const BANNED = {
  who: `${MEMBERS.who}; of a private group only if it was a member`,
  of: ({ group, members }: EventPayload<'group.member.banned'>): Audience => ({
    group: group.guid,
    users: Object.keys(members).filter(
      (uid) => group.type !== 'private' || members[uid]?.oldScope !== undefined,
    ),
  }),
}

const GROUP = {
  who: 'members',
  of: ({ group }: EventPayload<'group.updated'>): Audience => ({ group: group.guid }),
}

const BOTH = 'both users, or the members; between two, nobody who blocks who did it, or is blocked'

function ofReaction({
  reaction,
  conversationId,
  ...placed
}: EventPayload<'message.reaction.added'>) {
  const { uid } = reaction
  if (placed.receiverType === 'group') return { group: placed.receiver }
  return { users: [uid, otherSide(conversationId, uid)], by: uid }
}

/** In groups only those whose messages were received or read, beside the user's own devices. */
function ofReceipt({ uid, receiver, receiverType, senders }: EventPayload<'conversation.read'>) {
  return receiverType === 'group'
    ? { group: receiver, only: [uid, ...(senders ?? [])], by: uid }
    : { users: [uid, receiver], by: uid }
}

const CHANGE = { who: BOTH, of: ofChange }
const REACTION = { who: BOTH, of: ofReaction }
const RECEIPT = {
  who: "the user's own devices and the other user; in groups the senders of the newest 100 messages that it covers; blocks act",
  of: ofReceipt,
}
const FRIENDS = {
  who: 'both',
  of: ({ uid, friends }: EventPayload<'user.friends.added'>): Audience => ({
    users: [uid, ...friends],
  }),
}
const BLOCKS = {
  who: 'who blocks, not who is blocked',
  of: ({ by }: EventPayload<'user.blocked'>): Audience => ({ users: [by.uid] }),
}

/** By type, so that a new one cannot be forgotten. */
export const audiences: Audiences = {
  'app.created': NOBODY,
  'app.settings.updated': NOBODY,
  'app.archived': NOBODY,
  'app.restored': NOBODY,
  'apikey.created': NOBODY,
  'apikey.updated': NOBODY,
  'apikey.deleted': NOBODY,
  'role.created': NOBODY,
  'role.updated': NOBODY,
  'role.deleted': NOBODY,
  // A user that is not there, or no longer, has no device. Who changed is told to its own devices alone: others
  // see it in the next message, which shows its sender as it is then.
  'user.created': NOBODY,
  'user.updated': { who: OWNER.who, of: ({ user }) => ({ users: [user.uid] }) },
  'user.deactivated': NOBODY,
  'user.reactivated': NOBODY,
  'user.deleted': NOBODY,
  'user.token.created': OWNER,
  'user.token.updated': OWNER,
  'user.tokens.revoked': OWNER,
  'user.friends.added': FRIENDS,
  'user.friends.removed': FRIENDS,
  'user.blocked': BLOCKS,
  'user.unblocked': BLOCKS,
  'user.connection.changed': {
    ...NOBODY,
    who: 'nobody; who asked by `presence.subscribe` is told in `presence.changed`',
  },
  'group.created': {
    who: 'its first members',
    of: ({ members }) => ({ users: Object.keys(members) }),
  },
  'group.updated': GROUP,
  'group.deleted': GROUP,
  'group.owner.transferred': GROUP,
  'group.member.added': MEMBERS,
  'group.member.joined': MEMBERS,
  'group.member.left': MEMBERS,
  'group.member.kicked': MEMBERS,
  'group.member.banned': BANNED,
  'group.member.unbanned': GROUP,
  'group.member.scope.changed': MEMBERS,
  'message.sent': { who: BOTH, of: ({ message }) => ofMessage(message) },
  // The message itself tells it, to those who may read it.
  'user.mentioned': NOBODY,
  'thread.followed': OWNER,
  'message.interacted': {
    who: "the user's own devices and the message's sender; blocks act",
    of: ({ uid, messageSender, conversationId, receiverType }) =>
      receiverType === 'group'
        ? { group: conversationId.slice(GROUP_ID.length), only: [uid, messageSender], by: uid }
        : { users: [uid, messageSender], by: uid },
  },
  'message.edited': CHANGE,
  'message.deleted': CHANGE,
  'message.reaction.added': REACTION,
  'message.reaction.removed': REACTION,
  'message.pinned': { who: BOTH, of: ({ message }) => ofMessage(message, message.pinnedBy) },
  'message.unpinned': { who: BOTH, of: ({ message, by }) => ofMessage(message, by) },
  'message.saved': OWNER,
  'message.unsaved': OWNER,
  'conversation.delivered': RECEIPT,
  'conversation.read': RECEIPT,
  'conversation.unread': OWNER,
  'conversation.mark.moved': OWNER,
  'conversation.tags.updated': OWNER,
  'conversation.pinned': OWNER,
  // It names groups that not everyone may know of.
  'app.conversations.pinned': {
    who: 'everyone, without its payload',
    of: () => ({ everyone: true, bare: true }),
  },
  'conversation.cleared': {
    who: "the user's own devices; `forAll`: both users, where blocks act, or all members",
    of: ({ uid, receiverType, receiver, forAll }) => {
      if (!forAll) return { users: [uid] }
      return receiverType === 'group' ? { group: receiver } : { users: [uid, receiver], by: uid }
    },
  },
  'webhook.created': NOBODY,
  'webhook.updated': NOBODY,
  'webhook.deleted': NOBODY,
  'webhook.disabled': NOBODY,
}

/** Who is told of an event; undefined: no device is. */
export const audienceOf = (type: EventType, payload: unknown): Audience | undefined =>
  (audiences[type] as Telling<unknown>).of(payload)

const SYSTEM_UID = 'app_system'

/** Where whoever resumes must look, wherever else: see `placesOf`. */
export const EVERYONE = '*'
export const groupPlace = (guid: string) => `group:${guid}`
export const userPlace = (uid: string) => `user:${uid}`

/**
 * Under what an event is found by those who resume: at most two places, none if no device is told. Whoever
 * looks there must still ask `audienceOf`: a place can hold what others alone are told.
 */
export function placesOf(audience: Audience | undefined): string[] {
  if (!audience) return []
  const { group, only, users = [], everyone } = audience
  if (everyone) return [EVERYONE]
  const named = [...new Set([...users, ...(only ?? [])])].filter((uid) => uid !== SYSTEM_UID)
  const places = named.map(userPlace)
  if (group !== undefined && only && places.length <= 2) return places
  if (group !== undefined) places.unshift(groupPlace(group))
  if (only) return places.slice(0, 1)
  return places.length <= 2 ? places : [EVERYONE]
}
