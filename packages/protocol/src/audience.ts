import type { EventPayload, EventType } from './events.ts'
import type { MessageRecord } from './records.ts'

/** Who receives an event in real time. */
export interface Audience {
  /** The members of this group. */
  group?: string
  /** Restricts the members of `group` to these users. */
  only?: string[]
  /** These users as well, whether members or not. */
  users?: string[]
  /** Every user of the app. */
  everyone?: true
  /** The user who caused the event. Users who block this user or are blocked by them don't receive it. Unset: blocks don't apply. */
  by?: string
  /** The frame has an empty body. */
  bare?: true
}

interface AudienceRule<P> {
  /** The audience in words, for docs/realtime.md. */
  who: string
  of(payload: P): Audience | undefined
}

type Audiences = { [T in EventType]: AudienceRule<EventPayload<T>> }

const NOBODY = { who: 'nobody', of: () => undefined }
const OWNER = {
  who: "the user's own devices",
  of: ({ uid }: { uid: string }): Audience => ({ users: [uid] }),
}

const SENDER = {
  who: "the sender's own devices",
  of: ({ message }: EventPayload<'message.held'>): Audience | undefined => ({
    users: [message.sender],
  }),
}

/** Devices learn of a ban from a group by `group.member.banned`, and of one from the app when they are disconnected. */
const SANCTIONED = {
  who: "the user's own devices, of a mute",
  of: ({ sanction }: EventPayload<'moderation.sanction.created'>): Audience | undefined =>
    sanction.kind === 'mute' ? { users: [sanction.uid] } : undefined,
}

const HANDED_OVER = {
  who: 'the user who talks to the agent',
  of: ({ handover }: EventPayload<'agent.handover.opened'>): Audience => ({
    users: [handover.uid],
  }),
}

const GROUP_ID = 'group_'
const PAIR = '_user_'

/** The counterpart of `uid` in a 1:1 conversation, by the conversation's id. */
function counterpartOf(conversationId: string, uid: string): string {
  return conversationId.startsWith(uid + PAIR)
    ? conversationId.slice(uid.length + PAIR.length)
    : conversationId.slice(0, -(uid.length + PAIR.length))
}

type Addressed = Pick<MessageRecord, 'sender' | 'receiver' | 'receiverType'>

const ofMessage = ({ sender, receiver, receiverType }: Addressed, by = sender): Audience =>
  receiverType === 'group' ? { group: receiver } : { users: [sender, receiver], by }

/** An action message that the app caused names only one of the two users. The message it is about names both. */
function ofChange({ message }: { message: MessageRecord }): Audience {
  const { on } = (message.data.entities ?? {}) as { on?: { entity: MessageRecord } }
  return ofMessage(on?.entity ?? message, message.sender)
}

const MEMBERS = {
  who: 'members and the affected user',
  of: ({ group, members }: EventPayload<'group.member.joined'>): Audience => ({
    group: group.guid,
    users: Object.keys(members),
  }),
}

/** Users who were never members don't know that a private group exists. */
const BANNED = {
  who: `${MEMBERS.who}; in a private group the affected user only if they were a member`,
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

/** The owner and the creator of a group: members whom no `group.member.added` names. */
export const foundersOf = ({
  group,
  members,
  by,
}: Pick<EventPayload<'group.created'>, 'group' | 'members' | 'by'>): string[] =>
  [...new Set([group.owner, by.uid])].filter((uid) => Object.hasOwn(members, uid))

const BOTH = 'both users of a 1:1 conversation unless one blocks the other; in a group, all members'

function ofReaction({
  reaction,
  conversationId,
  ...addressed
}: EventPayload<'message.reaction.added'>) {
  const { uid } = reaction
  if (addressed.receiverType === 'group') return { group: addressed.receiver }
  return { users: [uid, counterpartOf(conversationId, uid)], by: uid }
}

/** In groups, only the user's own devices and the senders of messages that were received or read. */
function ofReceipt({ uid, receiver, receiverType, senders }: EventPayload<'conversation.read'>) {
  return receiverType === 'group'
    ? { group: receiver, only: [uid, ...(senders ?? [])], by: uid }
    : { users: [uid, receiver], by: uid }
}

const CHANGE = { who: BOTH, of: ofChange }
const REACTION = { who: BOTH, of: ofReaction }
const RECEIPT = {
  who: "the user's own devices and the counterpart; in groups the senders of the newest 100 messages that the mark covers; blocks apply",
  of: ofReceipt,
}
const RECEIPT_OF_ALL = {
  who: 'the sender of the message, while a member',
  of: ({ receiver, messageSender }: EventPayload<'conversation.read.by.all'>): Audience => ({
    group: receiver,
    only: [messageSender],
  }),
}
const FRIENDS = {
  who: 'both users',
  of: ({ uid, friends }: EventPayload<'user.friends.added'>): Audience => ({
    users: [uid, ...friends],
  }),
}
const BLOCKS = {
  who: 'the blocking user',
  of: ({ by }: EventPayload<'user.blocked'>): Audience => ({ users: [by.uid] }),
}

const EDITOR = {
  who: 'the user who edited the message',
  of: ({ message }: EventPayload<'message.edit.disapproved'>): Audience => ({
    users: [message.editedBy ?? message.sender],
  }),
}

const UPLOADER = {
  who: "the uploader's own devices",
  of: ({ uid }: EventPayload<'file.ready'>): Audience | undefined =>
    uid === undefined ? undefined : { users: [uid] },
}

type OfCall = Pick<EventPayload<'call.busy'>, 'call'>

const ofCall = ({ call }: OfCall): Audience =>
  call.receiverType === 'group'
    ? { group: call.callReceiver }
    : { users: [call.callInitiator, call.callReceiver] }

const CALL = { who: 'caller and called user; in a group, all members', of: ofCall }
/** Somebody who isn't a member any more learns that they are out of the call. */
const LEAVER = {
  who: 'caller and called user; in a group, all members and who left',
  of: ({ occupant, ...body }: OfCall & { occupant: { uid: string } }): Audience => {
    const audience = ofCall(body)
    return audience.group === undefined ? audience : { ...audience, users: [occupant.uid] }
  },
}
const CALLER = {
  who: "the caller's own devices",
  of: ({ call }: OfCall): Audience => ({ users: [call.callInitiator] }),
}

/** The audience of each type of event. The compiler reports a missing type. */
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
  'moderation.rule.created': NOBODY,
  'moderation.rule.updated': NOBODY,
  'moderation.rule.deleted': NOBODY,
  'moderation.keywords.created': NOBODY,
  'moderation.keywords.updated': NOBODY,
  'moderation.keywords.deleted': NOBODY,
  'moderation.checks.updated': NOBODY,
  'model.provider.created': NOBODY,
  'model.provider.updated': NOBODY,
  'model.provider.deleted': NOBODY,
  'moderation.reason.created': NOBODY,
  'moderation.reason.updated': NOBODY,
  'moderation.reason.deleted': NOBODY,
  'moderation.decided': NOBODY,
  'agent.handover.opened': HANDED_OVER,
  'agent.handover.taken': HANDED_OVER,
  'agent.handover.closed': HANDED_OVER,
  'user.flagged': NOBODY,
  'group.flagged': NOBODY,
  'moderation.sanction.created': SANCTIONED,
  'moderation.sanction.ended': SANCTIONED,
  // A user who doesn't exist has no devices. Only the user's own devices learn of an update at once; others see it
  // in the user's next message, which contains the sender's current record.
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
    who: 'nobody; devices that sent `presence.subscribe` get `presence.changed`',
  },
  'group.created': {
    who: 'the owner and the creator; the other first members get `group.member.added`',
    of: (payload) => ({ users: foundersOf(payload) }),
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
  'message.held': SENDER,
  'message.moderated': SENDER,
  'message.edit.disapproved': EDITOR,
  'message.restored': { who: BOTH, of: ({ message }) => ofMessage(message) },
  'message.flagged': NOBODY,
  'message.unflagged': NOBODY,
  'moderation.approved': NOBODY,
  'moderation.blocked': NOBODY,
  'moderation.failed': NOBODY,
  'moderation.manual.approved': NOBODY,
  'moderation.manual.rejected': NOBODY,
  // Devices see the mention in the message itself.
  'user.mentioned': NOBODY,
  'thread.followed': OWNER,
  'message.interacted': {
    who: "the user's own devices and the message's sender; blocks apply",
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
  'conversation.delivered.to.all': RECEIPT_OF_ALL,
  'conversation.read.by.all': RECEIPT_OF_ALL,
  'conversation.unread': OWNER,
  'conversation.mark.moved': OWNER,
  'conversation.tags.updated': OWNER,
  'conversation.pinned': OWNER,
  // Its payload names groups that some users may not see.
  'app.conversations.pinned': {
    who: 'everyone, without the payload',
    of: () => ({ everyone: true, bare: true }),
  },
  'conversation.cleared': {
    who: "the user's own devices; with `forAll`, both users of a 1:1 conversation unless one blocks the other, or all members",
    of: ({ uid, receiverType, receiver, forAll }) => {
      if (!forAll) return { users: [uid] }
      return receiverType === 'group' ? { group: receiver } : { users: [uid, receiver], by: uid }
    },
  },
  'call.incoming': {
    who: 'the called user; in a group, the called members, unless one blocks the other',
    of: ({ call, rung }) =>
      call.receiverType === 'group'
        ? { group: call.callReceiver, by: call.callInitiator, ...(rung && { only: rung }) }
        : { users: [call.callReceiver], by: call.callInitiator },
  },
  'call.accepted': CALL,
  'call.rejected': CALL,
  'call.cancelled': CALL,
  'call.busy': CALLER,
  'call.unanswered': CALL,
  'call.ended': CALL,
  'call.silenced': {
    who: 'the members for whom it stops ringing',
    of: ({ call, uids }) => ({ group: call.callReceiver, only: uids }),
  },
  'call.participant.joined': CALL,
  'call.participant.left': LEAVER,
  'call.recorded': NOBODY,
  'call.transcribed': NOBODY,
  'meeting.started': CALL,
  'meeting.ended': CALL,
  'meeting.participant.joined': CALL,
  'meeting.participant.left': LEAVER,
  'event.erased': NOBODY,
  'file.ready': UPLOADER,
  'file.rejected': UPLOADER,
  'webhook.created': NOBODY,
  'webhook.updated': NOBODY,
  'webhook.deleted': NOBODY,
  'webhook.disabled': NOBODY,
}

/**
 * Who receives an event. Undefined: no device does. That includes events of an unknown type, which a newer version
 * has announced.
 */
export const audienceOf = (type: EventType, payload: unknown): Audience | undefined =>
  (audiences[type] as AudienceRule<unknown> | undefined)?.of(payload)

const SYSTEM_UID = 'app_system'

/** The topic of events that every user of the app has to look at when resuming. */
export const EVERYONE = '*'
export const groupTopic = (guid: string) => `group:${guid}`
export const userTopic = (uid: string) => `user:${uid}`

/**
 * The topics under which the log stores an event, for clients that resume: at most two, or none if no device
 * receives the event. A topic can contain events that only other users receive, so check `audienceOf` as well.
 */
export function topicsOf(audience: Audience | undefined): string[] {
  if (!audience) return []
  const { group, only, users = [], everyone } = audience
  if (everyone) return [EVERYONE]
  const named = [...new Set([...users, ...(only ?? [])])].filter((uid) => uid !== SYSTEM_UID)
  const topics = named.map(userTopic)
  if (group !== undefined && only && topics.length <= 2) return topics
  if (group !== undefined) topics.unshift(groupTopic(group))
  if (only) return topics.slice(0, 1)
  return topics.length <= 2 ? topics : [EVERYONE]
}
