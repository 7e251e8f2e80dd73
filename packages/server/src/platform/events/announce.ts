import { audienceOf, type EventPayload, type EventType, topicsOf } from '@loquat/protocol'
import type { Tx } from '../db/db.ts'
import { query } from '../db/query.ts'

const insertBody = query<{
  appNo: number
  type: string
  key: string
  payload: string
  first: string
  second: string | null
}>(
  'events.announce',
  `insert into event_bodies (app_no, type, key, payload, to_first, to_second)
   values (:appNo, :type, :key, :payload::json, :first, :second)`,
)

export interface Announcement<T extends EventType> {
  appNo: number
  type: T
  /** The order key: webhooks deliver events with the same key in order. The conversation, or else the user or group. */
  key: string
  payload: EventPayload<T>
}

/**
 * Records an event in the transaction of the change. The sequencer assigns its position later. Call this last in
 * a transaction, after its locks and writes, so that events get positions in the order of their changes.
 */
export async function announce<T extends EventType>(tx: Tx, event: Announcement<T>): Promise<void> {
  const { appNo, type, key, payload } = event
  const [first = '', second = null] = topicsOf(audienceOf(type, payload))
  const topics = { first, second }
  await insertBody.run(tx, { appNo, type, key, payload: JSON.stringify(payload), ...topics })
  tx.announced = true
}
