import { audienceOf, type EventPayload, type EventType, placesOf } from '@loquat/protocol'
import type { Tx } from '../db/db.ts'
import { query } from '../db/query.ts'

const insertOutbox = query<{
  appNo: number
  type: string
  key: string
  payload: string
  first: string
  second: string | null
}>(
  'events.announce',
  `insert into outbox (app_no, type, key, payload, to_first, to_second)
   values (:appNo, :type, :key, :payload::json, :first, :second)`,
)

export interface Announcement<T extends EventType> {
  appNo: number
  type: T
  /** What must stay in order among its like: the conversation, else the user or group concerned. */
  key: string
  payload: EventPayload<T>
}

/**
 * Records an event with the change itself; the sequencer gives it its position. Call it last in a
 * transaction, after its locks and writes: events then get their positions in the order of the
 * changes they tell of.
 */
export async function announce<T extends EventType>(tx: Tx, event: Announcement<T>): Promise<void> {
  const { appNo, type, key, payload } = event
  const [first = '', second = null] = placesOf(audienceOf(type, payload))
  const places = { first, second }
  await insertOutbox.run(tx, { appNo, type, key, payload: JSON.stringify(payload), ...places })
  tx.announced = true
}
