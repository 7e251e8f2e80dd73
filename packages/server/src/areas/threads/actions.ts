import { isShown, messageLimits, shownTo } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import { lockHead } from '../../core/heads.ts'
import { findSeen, readMessage } from '../../core/message-access.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { pageOf } from '../history/page.ts'
import type { HistoryQuery } from '../history/schema.ts'
import { sendMessage } from '../messages/send.actions.ts'
import { refuseFollow } from './policy.ts'
import {
  insertFollower,
  listRepliesDown,
  listRepliesUp,
  removeFollower,
  type ThreadRow,
  threadsOfApp,
  threadsOfParticipant,
  threadsOfUser,
} from './queries.ts'
import type { NewReply, Thread, ThreadListQuery } from './schema.ts'

/** The replies to a message, paged like history. */
export async function repliesTo(actor: Actor, id: string, query: HistoryQuery) {
  const { id: parent, conversation } = await readMessage(actor, id)
  const replies = { no: conversation, cleared_id: 0 }
  const list = query.affix === 'prepend' ? listRepliesDown : listRepliesUp
  return pageOf(actor, replies, query, (db, range) =>
    list.many(db, { ...range, parent, ...shownTo(actor) }),
  )
}

/** Threads read at once if some were left out: a removed group may have many that aren't swept yet. */
const MANY = 1_001

/** Threads that the actor can see, or all threads of the app; newest first. */
export async function pageOfThreads(actor: Actor, query: ThreadListQuery) {
  const { no: appNo, cell } = actor.app
  const uid = actor.uid ?? null
  const { limit, participatedByMe, withUnreadReplyCount, withMentionCount } = query
  if (uid === null && (participatedByMe || withUnreadReplyCount || withMentionCount)) {
    throw badRequest({ onBehalfOf: ['filters about "me" need the header onBehalfOf'] })
  }
  const lists = participatedByMe ? threadsOfParticipant : threadsOfUser
  const newer = query.affix === 'append'
  const list = (uid === null ? threadsOfApp : lists)[newer ? 'newer' : 'older']
  const counts = {
    countReplies: withUnreadReplyCount ?? false,
    countMentions: withMentionCount ?? false,
  }
  const limits = messageLimits(actor.policy)
  const found: ThreadRow[] = []
  for (let start = startOf(query), width = limit + 1; found.length <= limit; width = MANY) {
    const rows = await list.many(cell.db, { appNo, uid, ...start, limit: width, ...counts })
    found.push(...rows.filter((row) => row.there && isShown(limits, row)))
    const end = rows.at(-1)
    if (rows.length < width || !end) break
    start = { second: end.updated_second, id: end.id }
  }
  const there = found.slice(0, limit)
  const last = there.at(-1)
  if (newer) there.reverse()
  const records = await toMessages(cell.db, appNo, there, asSeenBy(actor))
  const data = records.map((record, nth): Thread => {
    const { unread_replies = null, unread_mentions = null } = there[nth] ?? {}
    return {
      ...record,
      ...(unread_replies !== null && { unreadReplyCount: unread_replies }),
      ...(unread_mentions !== null && { mentionCount: unread_mentions }),
    }
  })
  const affix = newer ? 'append' : 'prepend'
  const next = found.length > limit && last
  return {
    data,
    meta: {
      current: { limit, count: data.length },
      ...(next && { next: { affix, updatedAt: next.updated_second, id: String(next.id) } }),
    },
  }
}

/** Before or after a whole second, unless the cursor names a thread in it. */
function startOf({ affix, updatedAt, id }: ThreadListQuery): { second: number; id: number } {
  if (affix === 'append') {
    return { second: updatedAt ?? 0, id: Number(id ?? Number.MAX_SAFE_INTEGER) }
  }
  return { second: updatedAt ?? Number.MAX_SAFE_INTEGER, id: Number(id ?? 0) }
}

/** Sends a reply in the thread of a message. Returns the answer's body as JSON. */
export const sendThreadReply = (
  deps: Deps,
  actor: Actor,
  id: string,
  reply: NewReply,
): Promise<string> => sendMessage(deps, actor, { ...reply, parentMessageId: id })

export const followThread = (deps: Deps, actor: Actor, id: string) =>
  setFollowing(deps, actor, id, true)

export const unfollowThread = (deps: Deps, actor: Actor, id: string) =>
  setFollowing(deps, actor, id, false)

/** Succeeds without an event if the actor already follows the thread, or already doesn't. */
function setFollowing(deps: Deps, actor: Actor, id: string, follows: boolean) {
  const { app, uid = '' } = actor
  const appNo = app.no
  return write(deps, actor, async (tx) => {
    const seen = await findSeen(tx, actor, id)
    await lockHead.maybeOne(tx, { appNo, conversation: seen.conversation })
    const row = await findSeen(tx, actor, id)
    refuseIf(refuseFollow(actor, row))
    const { id: parent, conversation, kind } = row
    const follower = { appNo, uid, parent, conversation, direct: kind === 'user' }
    const changed = await (follows ? insertFollower : removeFollower).maybeOne(tx, follower)
    if (changed) {
      const payload = { uid, messageId: String(parent), follows }
      const key = `conversation:${conversation}`
      await announce(tx, { appNo, type: 'thread.followed', key, payload })
    }
    const message = follows ? 'You follow this thread now.' : 'You no longer follow this thread.'
    return { success: true as const, message }
  })
}
