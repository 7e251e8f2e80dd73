import type { Db } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { encodeAscending, gramsOf, ID_BLOCK } from './grams.ts'
import {
  drawXid,
  findMiddle,
  findNext,
  findOldestXid,
  forgetChanges,
  hasSegment,
  listEnds,
  listPositions,
  listStale,
  listTexts,
  lockIndex,
  publishHorizon,
  removeGrams,
  removeIds,
  shortenSegment,
  storeGrams,
  storeIds,
  storeSegment,
} from './indexing.queries.ts'
import { findIndexed, type Segment } from './search.queries.ts'

/** How many messages a segment has. */
export interface Limits {
  /** At least as many as this, which a search can walk over. */
  few: number
  /** So many if as many wait. A segment that gets more is split when it is indexed again. */
  most: number
  /** How many may change until the segment is indexed again. */
  stale: number
}

const LIMITS: Limits = { few: 8_192, most: 65_536, stale: 200 }

/** Texts read, and grams written, per statement. */
const TEXTS = 8_192
const GRAMS = 4_000

/** How often to look for messages that came without events: those that `loquat fill` adds. */
const SURVEY_MS = 60_000

/** How long to leave stale segments alone, in multiples of the time spent on them: imports make them stale again. */
const PAUSE = 4

/** A segment whose end is published as the search horizon. */
interface Published {
  segment: Segment
  /** Transactions with a lower id may not have seen the horizon. */
  xid: number
}

/**
 * Indexes the texts of a cell's messages, one segment of an app at a time. An app has a segment to index when it is
 * full; searches walk over newer messages. Keeps only state that saves lookups; a successor starts from the tables.
 *
 * No message is missed: the indexer publishes the end of the segment as the app's search horizon, waits until every
 * transaction that may not have seen it has ended, and then reads the messages. Transactions that have seen it record
 * what they add or change up to there (`add_search_changes`).
 */
export class Indexer {
  readonly #db: Db
  readonly #limits: Limits
  readonly #published = new Map<number, Published>()
  /** By app: the position of the log before which its next segment can't be full. */
  readonly #notBefore = new Map<number, number>()
  readonly #ends = new Map<number, string>()
  #nextSurvey = 0
  #nextStale = 0

  constructor(db: Db, limits = LIMITS) {
    this.#db = db
    this.#limits = limits
  }

  /** Indexes all full segments, as far as open transactions permit, and returns how many there were. */
  async round(signal?: AbortSignal): Promise<number> {
    const stale = await this.#indexStale()
    await this.#survey()
    await this.#publish(await this.#findFull(signal))
    return stale + (await this.#indexPublished())
  }

  /** Looks again at apps that have new messages, whatever their log says. */
  async #survey(): Promise<void> {
    if (performance.now() < this.#nextSurvey) return
    for (const { app_no: appNo, ends } of await listEnds.many(this.#db, {})) {
      if (this.#ends.get(appNo) !== ends) this.#notBefore.delete(appNo)
      this.#ends.set(appNo, ends)
    }
    this.#nextSurvey = performance.now() + SURVEY_MS
  }

  /** At first it counts the messages of every app, which can take seconds. */
  async #findFull(signal?: AbortSignal): Promise<Map<number, Segment>> {
    const full = new Map<number, Segment>()
    for (const { app_no: appNo, position } of await listPositions.many(this.#db, {})) {
      if (signal?.aborted) break
      if (this.#published.has(appNo) || position < (this.#notBefore.get(appNo) ?? 0)) continue
      const { few, most } = this.#limits
      const next = await findNext.one(this.#db, { appNo, few, most })
      const upto = next.most_id ?? next.few_id
      if (upto !== null) full.set(appNo, { after_id: next.after, upto_id: upto })
      // Most messages come with one event. Others come with more, so don't look after each event.
      else this.#notBefore.set(appNo, position + Math.max(few - next.found, few / 8))
    }
    return full
  }

  async #publish(full: Map<number, Segment>): Promise<void> {
    if (full.size === 0) return
    for (const [appNo, { upto_id: upto }] of full) {
      await publishHorizon.run(this.#db, { appNo, upto })
    }
    // Drawn when the horizons are committed. Not the end of a snapshot, which is the id after the last one that
    // ended: transactions with higher ids may be running.
    const { xid } = await drawXid.one(this.#db, {})
    for (const [appNo, segment] of full) this.#published.set(appNo, { segment, xid })
  }

  async #indexPublished(): Promise<number> {
    if (this.#published.size === 0) return 0
    const oldest = await findOldestXid.one(this.#db, {})
    let done = 0
    for (const [appNo, { segment, xid }] of this.#published) {
      if (oldest.xid < xid) continue
      this.#published.delete(appNo)
      if (await indexNext(this.#db, appNo, segment)) done++
    }
    return done
  }

  async #indexStale(): Promise<number> {
    const started = performance.now()
    if (started < this.#nextStale) return 0
    const stale = await listStale.many(this.#db, { least: this.#limits.stale, limit: 10 })
    for (const { app_no: appNo, ...segment } of stale) {
      await indexAgain(this.#db, appNo, segment, this.#limits.most)
    }
    const ended = performance.now()
    this.#nextStale = ended + PAUSE * (ended - started)
    return stale.length
  }
}

/** Whether this was the next segment: another process may have been faster. */
function indexNext(db: Db, appNo: number, segment: Segment): Promise<boolean> {
  return db.tx(async (tx) => {
    await lockIndex.run(tx, { appNo })
    if ((await findIndexed.one(tx, { appNo })).upto !== segment.after_id) return false
    await index(tx, appNo, segment)
    return true
  })
}

/** Indexes a segment as if it had never been: nothing of messages that were deleted since is left. */
export const rebuildSegment = (db: Db, appNo: number, segment: Segment): Promise<void> =>
  indexAgain(db, appNo, segment, LIMITS.most, true)

/**
 * Indexes a segment again, or only the first part if it has become too large. Grams that no message has any more stay,
 * because searches check every hit and deleting them costs a walk over all grams of the app, unless `rebuilt`.
 */
function indexAgain(
  db: Db,
  appNo: number,
  segment: Segment,
  most: number,
  rebuilt = false,
): Promise<void> {
  return db.tx(async (tx) => {
    await lockIndex.run(tx, { appNo })
    // Otherwise another process has split it.
    if (!(await hasSegment.one(tx, { appNo, ...segment })).found) return
    if (rebuilt) await removeGrams.run(tx, { appNo, upto: segment.upto_id })
    const middle = await findMiddle.maybeOne(tx, { appNo, most, ...segment })
    await index(tx, appNo, { ...segment, upto_id: middle?.id ?? segment.upto_id })
    if (middle) await shortenSegment.run(tx, { appNo, upto: segment.upto_id, after: middle.id })
  })
}

async function index(tx: Executor, appNo: number, segment: Segment): Promise<void> {
  await forgetChanges.run(tx, { appNo, ...segment })
  const { lists, ids } = await readLists(tx, appNo, segment)
  const upto = segment.upto_id
  // In index order, so that neighbouring rows are written together.
  const grams = [...lists.keys()].sort()
  for (let n = 0; n < grams.length; n += GRAMS) {
    const rows = grams.slice(n, n + GRAMS).map((gram) => [gram, toBase64(lists.get(gram) ?? [])])
    await storeGrams.run(tx, { appNo, upto, grams: JSON.stringify(rows) })
  }
  const blocks: string[] = []
  for (let n = 0; n < ids.length; n += ID_BLOCK) blocks.push(toBase64(ids.slice(n, n + ID_BLOCK)))
  await removeIds.run(tx, { appNo, upto })
  await storeIds.run(tx, { appNo, upto, blocks: JSON.stringify(blocks) })
  await storeSegment.run(tx, { appNo, ...segment, messages: ids.length })
}

const toBase64 = (numbers: number[]) => encodeAscending(numbers).toString('base64')

/** The ids of the messages, and the ordinals of those that contain each gram. */
async function readLists(db: Executor, appNo: number, { after_id: after, upto_id: upto }: Segment) {
  const lists = new Map<string, number[]>()
  const ids: number[] = []
  for (;;) {
    const from = ids.at(-1) ?? after
    const rows = await listTexts.many(db, { appNo, after: from, upto, limit: TEXTS })
    for (const { id, text } of rows) {
      const ordinal = ids.push(id)
      for (const gram of gramsOf(text ?? '')) {
        const ordinals = lists.get(gram)
        if (ordinals) ordinals.push(ordinal)
        else lists.set(gram, [ordinal])
      }
    }
    if (rows.length < TEXTS) return { lists, ids }
  }
}
