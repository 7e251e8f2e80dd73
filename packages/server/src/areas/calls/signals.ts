import type { Actor } from '../../core/actor.ts'
import { fail } from '../../platform/http/fail.ts'
import { findSignalling, seeDevice } from './queries.ts'
import { callIdOf, notFound } from './record.ts'

/**
 * Refuses to relay what a device sends to another user, unless both are in the call. A candidate contains the address of
 * its device, so nobody who hasn't answered may send or get one.
 */
export async function checkSignal(actor: Actor, sessionId: string, to: string): Promise<void> {
  const { app, uid = '' } = actor
  const id = callIdOf(app, sessionId)
  const found = await findSignalling.maybeOne(app.cell.db, { appNo: app.no, id, uid, to })
  if (!found?.invited) throw notFound(sessionId)
  if (uid === to || !found.inside || !found.other) throw fail('ERR_CALL_NOT_A_PART')
}

/** A device says that it is still in the call. If it isn't, nothing happens: it learns that from events. */
export async function keepAlive(
  { app, uid = '' }: Actor,
  sessionId: string,
  deviceId: string,
): Promise<void> {
  const id = callIdOf(app, sessionId)
  await seeDevice.run(app.cell.db, { appNo: app.no, id, uid, deviceId })
}
