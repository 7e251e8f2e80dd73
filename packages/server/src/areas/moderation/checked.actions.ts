/** Messages that live elsewhere: the service checks them and keeps the result, but delivers nothing. */
import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { type Checked, moderate } from '../../core/moderation/moderate.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import { receiverOf } from '../../core/records/message.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import { createGroup } from '../groups/actions.ts'
import { edited } from '../messages/edit.actions.ts'
import { readContent } from '../messages/send.actions.ts'
import { createUser } from '../users/actions.ts'
import { holdAnyUsers } from '../users/queries.ts'
import { decideNow } from './asked.ts'
import {
  findByMuid,
  findChecked,
  holdGroup,
  insertChecked,
  listChecked,
  listParties,
  lockChecked,
  type NewChecked,
  removeChecked,
  updateChecked,
} from './checked.queries.ts'
import type { CheckedMessageChanges, CheckedQuery, NewCheckedMessage } from './checked.schema.ts'

type CheckDeps = Parameters<typeof decideNow>[0]
type GroupDeps = Parameters<typeof createGroup>[0] & CheckDeps

export async function createCheckedMessage(
  deps: GroupDeps,
  actor: Actor,
  given: NewCheckedMessage,
): Promise<MessageRecord> {
  const { sender, receiver, receiverType: kind, muid = null } = given
  const { category, type, data } = readContent(given)
  // First, and for good: the rules ask who they are.
  await createParties(deps, actor, given)
  const parties = { sender, kind, receiver }
  const verdict = await check(deps, actor, { ...parties, category, type, data }, 'new')
  return write(deps, actor, async (tx) => {
    await holdParties(tx, actor.app.no, given)
    const id = await store(tx, {
      ...{ appNo: actor.app.no, sender, kind, receiver, category, type, muid },
      ...{ data: JSON.stringify(data), ...judged(verdict) },
    })
    return readChecked(tx, actor, String(id))
  })
}

/** Nobody waits for such a message, so services are asked at once. */
async function check(
  deps: CheckDeps,
  actor: Actor,
  message: Checked,
  id: string,
): Promise<Verdict | undefined> {
  const verdict = await moderate(actor, message)
  return decideNow(deps, actor.app, { id, ...message }, verdict)
}

/** What a verdict leaves in the row. */
function judged(verdict: Verdict | undefined) {
  if (!verdict) return { status: null, rule: null }
  if (verdict.status !== 'disapproved') return { status: 'approved', rule: null }
  const { id, name } = verdict.rule
  return { status: verdict.status, rule: JSON.stringify({ id, name }) }
}

type Parties = Pick<NewCheckedMessage, 'sender' | 'receiver' | 'receiverType'>

const partiesOf = ({ sender, receiver, receiverType }: Parties) =>
  receiverType === 'group'
    ? { uids: [sender], guids: [receiver] }
    : { uids: [sender, receiver], guids: [] }

/** Creates the users and the group that there aren't yet. A retry finds them. */
async function createParties(
  deps: GroupDeps,
  actor: Actor,
  given: NewCheckedMessage,
): Promise<void> {
  const { no: appNo, cell } = actor.app
  const { sender, receiver, senderUserDetails, receiverUserDetails, receiverGroupDetails } = given
  const { uids, guids } = partiesOf(given)
  const known = await listParties.many(cell.db, { appNo, uids, guids })
  const isKnown = (kind: string, id: string) =>
    known.some((one) => one.kind === kind && one.id === id)
  // The key of the request belongs to the message.
  const { retry: _retry, ...rest } = actor
  const creator = rest as Actor
  for (const uid of new Set(uids)) {
    if (isKnown('user', uid)) continue
    const user = uid === sender ? senderUserDetails : receiverUserDetails
    if (!user) throw fail('ERR_UID_NOT_FOUND', { uid })
    if (user.uid !== uid) throw badRequest({ uid: [`the details are not about "${uid}"`] })
    await unlessThere('ERR_UID_ALREADY_EXISTS', createUser(deps, creator, user))
  }
  if (given.receiverType === 'user' || isKnown('group', receiver)) return
  if (!receiverGroupDetails) throw fail('ERR_GUID_NOT_FOUND', { guid: receiver })
  if (receiverGroupDetails.guid !== receiver) {
    throw badRequest({ guid: [`the details are not about "${receiver}"`] })
  }
  await unlessThere('ERR_GUID_ALREADY_EXISTS', createGroup(deps, creator, receiverGroupDetails))
}

/** Another request may create it at the same time. */
async function unlessThere(code: string, creation: Promise<unknown>): Promise<void> {
  await creation.catch((error) => {
    if (!(error instanceof ApiError) || error.code !== code) throw error
  })
}

/** They stay until the message is stored; what is removed with them includes it then. */
async function holdParties(tx: Tx, appNo: number, given: Parties): Promise<void> {
  const { uids, guids } = partiesOf(given)
  const users = await holdAnyUsers.many(tx, { appNo, uids })
  const gone = uids.find((uid) => !users.some((user) => user.uid === uid))
  if (gone !== undefined) throw fail('ERR_UID_NOT_FOUND', { uid: gone })
  for (const guid of guids) {
    const group = await holdGroup.maybeOne(tx, { appNo, guid })
    if (!group) throw fail('ERR_GUID_NOT_FOUND', { guid })
  }
}

/** The id of the message, or of the one that had its muid before. */
async function store(tx: Tx, row: NewChecked): Promise<number> {
  const { appNo, sender, muid } = row
  for (;;) {
    const stored =
      (await insertChecked.maybeOne(tx, row)) ??
      (await findByMuid.maybeOne(tx, { appNo, sender, muid }))
    if (stored) return stored.id
    // Another message has the id: two came in the same microsecond.
  }
}

export async function readChecked(db: Executor, actor: Actor, id: string): Promise<MessageRecord> {
  const row = await findChecked.maybeOne(db, { appNo: actor.app.no, id })
  if (!row) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  const [message] = await toMessages(db, actor.app.no, [row], asSeenBy(actor))
  return message as MessageRecord
}

export async function listCheckedMessages(actor: Actor, query: CheckedQuery) {
  const { no: appNo, cell } = actor.app
  const { limit, affix = 'append' } = query
  const rows = await listChecked(cell.db, appNo, query)
  const shown = rows.slice(0, limit)
  const data = await toMessages(cell.db, appNo, shown, asSeenBy(actor))
  const last = rows.length > limit ? data.at(-1) : undefined
  const next = last && { affix, sentAt: last.sentAt, id: last.id }
  if (affix === 'prepend') data.reverse()
  return { data, meta: { current: { limit, count: data.length }, ...(next && { next }) } }
}

/** Changes what a message says, and checks it anew. */
export async function updateCheckedMessage(
  deps: Deps,
  actor: Actor,
  id: string,
  changes: CheckedMessageChanges,
): Promise<MessageRecord> {
  const { no: appNo, cell } = actor.app
  // Before the transaction, which must not wait for services. A change that comes between is replaced.
  const seen = await lockChecked.maybeOne(cell.db, { appNo, id })
  const content = seen && edited(seen, changes)
  const verdict = content && (await check(deps, actor, { ...addressed(seen), ...content }, id))
  return write(deps, actor, async (tx) => {
    const row = await lockChecked.maybeOne(tx, { appNo, id })
    if (!row || !content) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
    const { data } = content
    await updateChecked.run(tx, { appNo, id, data: JSON.stringify(data), ...judged(verdict) })
    return readChecked(tx, actor, id)
  })
}

const addressed = (row: MessageRow) => ({
  sender: row.sender,
  kind: row.kind,
  receiver: receiverOf(row),
})

export function deleteCheckedMessage(deps: Deps, actor: Actor, id: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await lockChecked.maybeOne(tx, { appNo, id })
    if (!row) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
    await removeChecked.run(tx, { appNo, id })
    return { success: true as const, message: `Message ${id} deleted.` }
  })
}
