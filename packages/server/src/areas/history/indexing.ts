import type { Db } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { encodeIds, gramsOf } from './grams.ts'
import {
  findIndexed,
  findNth,
  forgetChanges,
  haveEnded,
  listStale,
  listTexts,
  listUnindexed,
  lockIndex,
  storeGrams,
  storeSegment,
} from './search.queries.ts'

/** Messages per segment: as many as a search can walk over, or more if many wait. */
export const STRETCH = 8_192
const LARGE_STRETCH = 65_536

/** How many messages of a segment may change before it is indexed again. */
const STALE = 200

/** Texts read, and grams written, per statement. */
const TEXTS = 8_192
const GRAMS = 4_000

/** A segment that waits until every transaction that may have drawn ids in it has ended. */
interface Waiting {
  after: number
  upto: number
  horizon: string
}

/**
 * Indexes the texts of a cell's messages, one segment of an app at a time. An app has a segment to
 * index when it is full; searches walk over newer messages. Keeps only state that saves lookups; a
 * successor starts from the tables.
 */
export class Indexer {
  readonly #db: Db
  readonly #stretch: number
  readonly #waiting = new Map<number, Waiting>()
  /** By app: the lowest id at which its next segment can be full. */
  readonly #notBefore = new Map<number, number>()

  constructor(db: Db, stretch = STRETCH) {
    this.#db = db
    this.#stretch = stretch
  }

  /** Indexes all full segments and returns how many there were. */
  async round(): Promise<number> {
    let done = await this.#indexStale()
    for (const { app_no: appNo, upto, last_id } of await this.#candidates()) {
      if (last_id < (this.#notBefore.get(appNo) ?? 0)) continue
      const waiting = this.#waiting.get(appNo) ?? (await this.#findStretch(appNo, upto, last_id))
      if (!waiting || !(await haveEnded.one(this.#db, waiting)).ended) continue
      this.#waiting.delete(appNo)
      if (await indexStretch(this.#db, appNo, waiting)) done++
    }
    return done
  }

  #candidates() {
    return listUnindexed.many(this.#db, { least: this.#stretch })
  }

  async #findStretch(appNo: number, after: number, lastId: number): Promise<Waiting | undefined> {
    const large = Math.max(LARGE_STRETCH, this.#stretch)
    const all = await findNth.one(this.#db, { appNo, after, nth: large })
    const few = { appNo, after, nth: this.#stretch }
    const { id, found, horizon } = all.id === null ? await findNth.one(this.#db, few) : all
    if (id === null) {
      this.#notBefore.set(appNo, lastId + this.#stretch - found)
      return undefined
    }
    const waiting = { after, upto: id, horizon }
    this.#waiting.set(appNo, waiting)
    return waiting
  }

  async #indexStale(): Promise<number> {
    const stale = await listStale.many(this.#db, { least: STALE, limit: 10 })
    for (const { app_no: appNo, after_id: after, upto_id: upto } of stale) {
      await writeStretch(this.#db, appNo, { after, upto })
    }
    return stale.length
  }
}

type Stretch = Pick<Waiting, 'after' | 'upto'>

/** Whether this was the next segment: another process may have been faster. */
function indexStretch(db: Db, appNo: number, stretch: Stretch): Promise<boolean> {
  return db.tx(async (tx) => {
    await lockIndex.run(tx, { appNo })
    if ((await findIndexed.one(tx, { appNo })).upto !== stretch.after) return false
    await storeStretch(tx, appNo, stretch)
    return true
  })
}

const writeStretch = (db: Db, appNo: number, stretch: Stretch): Promise<void> =>
  db.tx(async (tx) => {
    await lockIndex.run(tx, { appNo })
    await storeStretch(tx, appNo, stretch)
  })

async function storeStretch(tx: Executor, appNo: number, { after, upto }: Stretch): Promise<void> {
  await forgetChanges.run(tx, { appNo, after, upto })
  const { lists, messages } = await readLists(tx, appNo, { after, upto })
  // In index order, so that neighbouring rows are written together.
  const grams = [...lists.keys()].sort()
  for (let n = 0; n < grams.length; n += GRAMS) {
    const rows = grams
      .slice(n, n + GRAMS)
      .map((gram) => [gram, encodeIds(lists.get(gram) ?? [], after).toString('base64')])
    await storeGrams.run(tx, { appNo, upto, grams: JSON.stringify(rows) })
  }
  await storeSegment.run(tx, { appNo, upto, after, messages })
}

/** The messages that contain each gram. */
async function readLists(db: Executor, appNo: number, { after, upto }: Stretch) {
  const lists = new Map<string, number[]>()
  let messages = 0
  for (let from = after; ; ) {
    const rows = await listTexts.many(db, { appNo, after: from, upto, limit: TEXTS })
    for (const { id, text } of rows) {
      for (const gram of gramsOf(text ?? '')) {
        const ids = lists.get(gram)
        if (ids) ids.push(id)
        else lists.set(gram, [id])
      }
    }
    messages += rows.length
    from = rows.at(-1)?.id ?? upto
    if (rows.length < TEXTS) return { lists, messages }
  }
}
