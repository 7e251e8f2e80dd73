import { SYSTEM_UID } from '../../core/ids.ts'
import type { Deps } from '../../deps.ts'
import { drawRetryAfter } from '../../gate/turn.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { isLockTimeout, isRejected } from '../../platform/db/db.ts'
import { fail } from '../../platform/http/fail.ts'
import { type Batched, Batches, LEFT_OUT } from './batches.ts'
import {
  insertMessage,
  insertMessageAtOnce,
  insertMessages,
  type PlainMessage,
  type SendParams,
  type SentRow,
} from './queries.ts'

interface Item extends Batched {
  params: SendParams
  /** The message as `send_messages` reads it, without its place in the call and the braces. */
  fields: string
}

export type SendDeps = Pick<Deps, 'config' | 'metrics' | 'tracing' | 'lanes' | 'cache'>

const LATE = 'The message waited too long for its turn. It was not sent.'

/** The batches of this process, one for each cell. */
const batches = new WeakMap<Cell, Batches<Item, SentRow>>()

/**
 * Whether `send_messages` can send a message together with others. The rest needs `send_message`. The role of the
 * sender has been asked before; `send_messages` leaves out what the permissions of scopes deny.
 */
export const isPlain = (message: SendParams): boolean => {
  const { sender, parent, quoted, mentions, shows, target, verdict, files } = message
  const refers = parent !== null || quoted !== null || mentions !== null || files !== null
  return !refers && verdict === null && shows && target === '' && sender !== SYSTEM_UID
}

/** Sends a plain message, together with others that arrive at the same time. */
export function sendTogether(deps: SendDeps, cell: Cell, params: SendParams): Promise<SentRow> {
  const own = batches.get(cell) ?? openBatches(deps, cell)
  batches.set(cell, own)
  const item = toItem(params)
  return deps.tracing.statement(insertMessages.name, () => own.send(item))
}

/** Sends a message of any kind in a call of its own. One that is held may have to be checked by a job. */
export const sendAlone = ({ db }: Cell, params: SendParams): Promise<SentRow> =>
  db.call((once) => insertMessage.one(once, params), params.verdict !== null)

/** Adds the metric of the messages that wait in this process, by cell. */
export function addQueueGauge({ metrics, directory }: Pick<Deps, 'metrics' | 'directory'>): void {
  metrics.gauge('loquat_send_queue', 'Plain messages that wait for a call, by cell.', () =>
    directory.cells().map((cell) => [batches.get(cell)?.queued ?? 0, { cell: cell.id }]),
  )
}

function openBatches({ config, metrics, tracing }: SendDeps, cell: Cell): Batches<Item, SentRow> {
  const sizes = metrics.sizes(
    'loquat_send_batch_size',
    'Messages in each call that sends plain messages, by cell.',
  )
  return new Batches<Item, SentRow>({
    runAll(items, patient) {
      sizes.record(items.length, { cell: cell.id })
      return tracing.shared(() => insertAll(cell, items, patient))
    },
    runOne: ({ params }) => tracing.shared(() => sendAlone(cell, params)),
    isRolledBack: isRejected,
    full: () => fail('ERR_TOO_MANY_AT_ONCE', {}, { retryAfter: drawRetryAfter() }),
    late: () => fail('ERR_MISSION_FAILED', {}, { devMessage: LATE, retryAfter: drawRetryAfter() }),
    patienceMs: config.engines.timeoutMs,
  })
}

async function insertAll(
  cell: Cell,
  items: Item[],
  waits: boolean,
): Promise<(SentRow | typeof LEFT_OUT)[]> {
  const [first] = items
  if (first && items.length === 1 && !waits) return [await insertAtOnce(cell, first)]
  const messages = `[${items.map(({ fields }, n) => `{"n":${n},${fields}}`).join(',')}]`
  const rows = await cell.db.call((once) =>
    insertMessages.many(once, { clock: Date.now(), messages, waits }),
  )
  const results: (SentRow | typeof LEFT_OUT)[] = items.map(() => LEFT_OUT)
  for (const { n, id, message } of rows) results[n] = { message_id: id, message }
  return results
}

/** One message alone: this costs less than a call for many, and also hardly waits for a lock. */
async function insertAtOnce({ db }: Cell, { params }: Item): Promise<SentRow | typeof LEFT_OUT> {
  try {
    return await db.call((once) => insertMessageAtOnce.one(once, params))
  } catch (error) {
    if (isLockTimeout(error)) return LEFT_OUT
    throw error
  }
}

function toItem(params: SendParams): Item {
  const { appNo: app, kind, sender, receiver, category, type, data, tags, muid, key } = params
  const [one, other] =
    kind === 'group' ? [receiver, ''] : sender < receiver ? [sender, receiver] : [receiver, sender]
  const credential = params.credential.toString('hex')
  const hash = params.requestHash?.toString('hex') ?? null
  const message: Omit<PlainMessage, 'n' | 'data'> = {
    ...{ app, kind, one, other, sender, receiver, category, type, tags, muid },
    ...{ credential, key, hash },
  }
  // `data` is JSON already.
  const fields = `${JSON.stringify(message).slice(1, -1)},"data":${data}`
  return {
    ...{ params, fields, app, bytes: Buffer.byteLength(fields) },
    conversation: `${one} ${other}`,
    keys: [
      ...(key === null ? [] : [`${app} key ${credential} ${sender} ${key}`]),
      ...(muid === null ? [] : [`${app} muid ${sender} ${muid}`]),
    ],
  }
}
