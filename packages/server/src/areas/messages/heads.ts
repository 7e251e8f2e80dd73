import { fail } from '../../platform/http/fail.ts'
import type { Actor } from '../access/actor.ts'
import { findDirect, findEntities, findGroupHead } from './queries.ts'
import { SYSTEM_UID } from './record.ts'

/** A conversation as far as somebody may read it. */
export interface Readable {
  no: number
  last_seq: number
  cleared_seq: number
}

export async function checkKnown({ app: { no: appNo, cell } }: Actor, uid: string): Promise<void> {
  const known = { appNo, viewer: null, uids: [uid], guids: [], system: uid === SYSTEM_UID }
  if (!(await findEntities.maybeOne(cell.db, known))) throw fail('ERR_UID_NOT_FOUND', { uid })
}

/** The conversation of the acting user with another, if there is one. */
export async function findHeadWith(actor: Actor, other: string): Promise<Readable | undefined> {
  await checkKnown(actor, other)
  const { app, uid = '' } = actor
  return findDirect.maybeOne(app.cell.db, { appNo: app.no, uid, other })
}

/** The conversation of a group, if the actor may read it: members, and the app. */
export async function getHeadOf(actor: Actor, guid: string): Promise<Readable> {
  const { no: appNo, cell } = actor.app
  const viewer = actor.uid ?? null
  const head = await findGroupHead.maybeOne(cell.db, { appNo, guid, viewer })
  if (!head) throw fail('ERR_GUID_NOT_FOUND', { guid })
  if (viewer !== null && head.scope === null) {
    throw fail(head.banned ? 'ERR_BANNED_GROUPMEMBER' : 'ERR_GROUP_NOT_JOINED')
  }
  return head
}
