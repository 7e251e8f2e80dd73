import { isDeepStrictEqual } from 'node:util'
import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { checkBlocks, lockHead } from '../../core/heads.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { findMessage, findSeen } from '../../core/message-access.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import { moderate } from '../../core/moderation/moderate.ts'
import type { PendingCheck } from '../../core/moderation/slow.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { fileIdsIn } from '../files/attach.actions.ts'
import { replaceFiles } from '../files/queries.ts'
import { appendChange, type ChangedBy, describeChange, shownChange } from './action-message.ts'
import { type Content, checkContent, isObject, type Json, withoutOurs } from './content.ts'
import { refuseEdit } from './policy.ts'
import { editMessage, holdEdit, holdMentioned } from './queries.ts'
import type { MessageEdit } from './schema.ts'
import { withFiles } from './send.actions.ts'

/**
 * Changes what a message says. Returns the action message that reports the edit. `verdict`: instead of that of the app's
 * rules.
 */
export function updateMessage(
  deps: Deps,
  actor: Actor,
  id: string,
  edit: MessageEdit,
  verdict?: EditVerdict,
): Promise<MessageRecord> {
  const appNo = actor.app.no
  if (edit.data === undefined && edit.tags === undefined) {
    throw badRequest({ data: ['body needs data or tags'] })
  }
  const check = (row: MessageRow, content: Content) => verdict ?? checkEdit(actor, row, content)
  return write(deps, actor, async (tx) => {
    const seen = await findSeen(tx, actor, id)
    refuseIf(refuseEdit(actor, seen))
    const planned = edited(seen, edit)
    let checked = await check(seen, planned)
    const uids = planned.mentions ?? []
    const { records } = await holdMentioned.one(tx, { appNo, uids })
    await lockHead.maybeOne(tx, { appNo, conversation: seen.conversation })
    // The message in its current state, which nobody can change any more, if it still exists.
    const row = await findSeen(tx, actor, id)
    refuseIf(refuseEdit(actor, row))
    const { conversation } = row
    if (actor.uid !== undefined) await checkBlocks.run(tx, { appNo, conversation, uid: actor.uid })
    const content = edited(row, edit)
    // Somebody else edited it meanwhile.
    if (!isDeepStrictEqual(content.data, planned.data)) checked = await check(row, content)
    const { data, files } = await withFiles(actor, content, tx)
    const stored: StoredEdit = {
      ...{ data, tags: edit.tags ?? row.tags },
      // If the text doesn't change, its mentions don't either.
      mentions: textOf(edit) === undefined ? null : (records ?? {}),
      files: files || fileIdsIn(row.data).length > 0 ? (files ?? []) : null,
    }
    if (checked?.status === 'pending') return wait(tx, actor, row, stored, checked.checks)
    const { message, changed } = await storeEdit(tx, actor, row, stored, checked)
    return shownChange(tx, actor, message, changed)
  })
}

type EditVerdict = Exclude<Verdict, { status: 'disapproved' }>

/** An edit, ready to be stored. */
export interface StoredEdit {
  data: Json
  tags: string[]
  /** The records of the users that it mentions. Null: they don't change. */
  mentions: Json | null
  /** The files that it refers to. Null: they don't change. */
  files: string[] | null
}

/** Stores an edit of a message whose head is locked, and tells everyone. */
export async function storeEdit(
  tx: Tx,
  actor: ChangedBy,
  row: MessageRow,
  { data, tags, mentions, files }: StoredEdit,
  verdict: Pick<Verdict, 'status'> | undefined,
): Promise<{ message: MessageRecord; changed: MessageRow & ViewerAccess }> {
  const { app, uid = null } = actor
  const appNo = app.no
  const { id } = row
  const judged = verdict ? { ...data, moderation: { status: verdict.status } } : data
  const told = await editMessage.many(tx, {
    ...{ appNo, id, by: uid ?? SYSTEM_UID, tags },
    ...{ data: JSON.stringify(judged), mentions: JSON.stringify(mentions) },
  })
  if (files) await replaceFiles.run(tx, { appNo, id, files })
  const changed = await findMessage.one(tx, { appNo, id: String(id), viewer: uid })
  const message = await appendChange(tx, actor, 'edited', changed)
  const key = `conversation:${changed.conversation}`
  await announce(tx, { appNo, type: 'message.edited', key, payload: { message } })
  const { on } = message.data.entities as { on: { entity: MessageRecord } }
  for (const { uid: mentioned } of told) {
    const payload = { uid: mentioned, message: on.entity }
    await announce(tx, { appNo, type: 'user.mentioned', key, payload })
  }
  return { message, changed }
}

/**
 * Lets an edit wait for slow checks. Nobody sees it meanwhile, so the action message in the answer isn't stored: it has
 * the id of the message.
 */
async function wait(
  tx: Tx,
  actor: Actor,
  row: MessageRow,
  { data, tags, mentions, files }: StoredEdit,
  checks: PendingCheck[],
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  await holdEdit.run(tx, {
    ...{ appNo: app.no, id: row.id, by, data: JSON.stringify(data), tags, files },
    mentions: mentions && Object.keys(mentions),
    ...{ editedBefore: row.edited_at, checks: JSON.stringify(checks) },
  })
  tx.enqueued = true
  const shown = { ...data, moderation: { status: 'pending' } }
  const change = { data: shown, tags, at: new Date() }
  const message = await describeEdit(tx, actor, row, change)
  return shownChange(tx, actor, message, after(actor, row, change))
}

type Change = Pick<StoredEdit, 'data' | 'tags'> & { at: Date }

const after = (by: ChangedBy, row: MessageRow, { data, tags, at }: Change): MessageRow => ({
  ...{ ...row, data, tags, edited_at: at, edited_by: by.uid ?? SYSTEM_UID, updated_at: at },
})

/** The message as it would be after an edit that waits, or that was disapproved. */
export async function describeEdit(
  tx: Tx,
  by: ChangedBy,
  row: MessageRow,
  change: Change,
): Promise<MessageRecord> {
  return describeChange(tx, by, 'edited', after(by, row, change))
}

/** Whether the user who edited a message may still do so. */
export const mayEdit = (uid: string | undefined, row: MessageRow & ViewerAccess): boolean =>
  !refuseEdit(uid === undefined ? { kind: 'app' } : { kind: 'appOnBehalf', uid }, row)

/** Refuses content that a rule disapproves: the message stays as it was. */
async function checkEdit(
  actor: Actor,
  { sender, kind, one, other }: MessageRow,
  { category, type, data }: Content,
): Promise<EditVerdict | undefined> {
  const receiver = kind === 'group' || one !== sender ? one : other
  const verdict = await moderate(actor, { sender, kind, receiver, category, type, data })
  if (verdict?.status !== 'disapproved') return verdict
  throw fail('ERR_MESSAGE_DISAPPROVED', { rule: verdict.rule.name })
}

const pick = (data: Json, ...keys: string[]): Json =>
  Object.fromEntries(Object.entries(data).filter(([key]) => keys.includes(key)))

const textOf = ({ data }: MessageEdit) => (isObject(data) ? data.text : undefined)

/**
 * Given fields replace the current ones, the others stay. Of media, only the attachments, the caption
 * and the metadata can change.
 */
export function edited(
  { category, type, data: before }: MessageRow,
  { data = {} }: MessageEdit,
): Content {
  if (!isObject(data)) throw fail('ERR_INVALID_MESSAGE_DATA')
  const others = withoutOurs(data)
  const media = category === 'message' && type !== 'text'
  const given: Json = media ? pick(others, 'attachments', 'text', 'metadata') : others
  const merged = Object.entries({ ...withoutOurs(before), ...given })
  const kept = Object.fromEntries(merged.filter(([key]) => given[key] !== null))
  return checkContent(category, type, kept)
}
