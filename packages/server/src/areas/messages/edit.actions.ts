import { isDeepStrictEqual } from 'node:util'
import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { checkBlocks, lockHead } from '../../core/heads.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { findSeen } from '../../core/message-access.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { moderate } from '../../core/moderation/moderate.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { fileIdsIn } from '../files/attach.actions.ts'
import { replaceFiles } from '../files/queries.ts'
import { appendChange, shownChange } from './action-message.ts'
import { type Content, checkContent, isObject, type Json, withoutOurs } from './content.ts'
import { refuseEdit } from './policy.ts'
import { editMessage, holdMentioned } from './queries.ts'
import type { MessageEdit } from './schema.ts'
import { withFiles } from './send.actions.ts'

/** Changes what a message says. Returns the action message that reports the edit. */
export function updateMessage(
  deps: Deps,
  actor: Actor,
  id: string,
  edit: MessageEdit,
): Promise<MessageRecord> {
  const { app, uid: by = SYSTEM_UID } = actor
  const appNo = app.no
  if (edit.data === undefined && edit.tags === undefined) {
    throw badRequest({ data: ['body needs data or tags'] })
  }
  return write(deps, actor, async (tx) => {
    const seen = await findSeen(tx, actor, id)
    refuseIf(refuseEdit(actor, seen))
    const planned = edited(seen, edit)
    let checked = await checkEdit(actor, seen, planned)
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
    if (!isDeepStrictEqual(content.data, planned.data)) {
      checked = await checkEdit(actor, row, content)
    }
    const described = await withFiles(actor, content, tx)
    const data = { ...described.data, ...checked }
    // If the text doesn't change, its mentions don't either.
    const mentions = textOf(edit) === undefined ? null : (records ?? {})
    const told = await editMessage.many(tx, {
      ...{ appNo, id: row.id, by, tags: edit.tags ?? row.tags },
      ...{ data: JSON.stringify(data), mentions: JSON.stringify(mentions) },
    })
    if (described.files || fileIdsIn(row.data).length > 0) {
      await replaceFiles.run(tx, { appNo, id: row.id, files: described.files ?? [] })
    }
    const changed = await findSeen(tx, actor, id)
    const message = await appendChange(tx, actor, 'edited', changed)
    const key = `conversation:${conversation}`
    await announce(tx, { appNo, type: 'message.edited', key, payload: { message } })
    const { on } = message.data.entities as { on: { entity: MessageRecord } }
    for (const { uid } of told) {
      const payload = { uid, message: on.entity }
      await announce(tx, { appNo, type: 'user.mentioned', key, payload })
    }
    return shownChange(tx, actor, message, changed)
  })
}

/** Refuses content that a rule disapproves: the message stays as it was. Returns what the content says about the check. */
async function checkEdit(
  actor: Actor,
  { sender, kind, one, other }: MessageRow,
  { category, data }: Content,
): Promise<Json> {
  const receiver = kind === 'group' || one !== sender ? one : other
  const verdict = await moderate(actor, { sender, kind, receiver, category, data })
  if (verdict?.status === 'disapproved') {
    throw fail('ERR_MESSAGE_DISAPPROVED', { rule: verdict.rule.name })
  }
  return verdict ? { moderation: { status: verdict.status } } : {}
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
