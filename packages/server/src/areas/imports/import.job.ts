import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { Type } from 'typebox'
import { settingsInForce } from '../../core/settings.ts'
import { seconds } from '../../core/time.ts'
import { type Deps, defineJob } from '../../deps.ts'
import { erasedUser } from '../erasures/actions.ts'
import { getSettings } from '../settings/queries.ts'
import {
  Batch,
  countsWith,
  type ErasedUser,
  Importer,
  noCounts,
  type Piece,
  problemsOf,
  type Sums,
  sumsOf,
} from './import-file.ts'
import {
  findImport,
  findPart,
  holdStarted,
  type Place,
  reachImport,
  removeOldImports,
  removeParts,
  setImportState,
} from './jobs.queries.ts'
import { LINE_BYTES, readLines } from './lines.ts'
import { Load } from './load.ts'

/** What a part may become when it is decompressed. */
const PART = { bytes: 64 * 1024 * 1024, lines: 200_000 }
export const importJob = defineJob({
  name: 'imports.run',
  summary: 'Imports the lines that were uploaded for an import.',
  input: Type.Object({ importId: Type.Integer() }),
  checkpoint: Type.Object({}),
  async run({ appNo, id: jobId, input, checkpoint, progress, signal, context: { deps, cell } }) {
    const { db } = cell
    const one = { appNo, id: input.importId }
    const row = await findImport.maybeOne(db, one)
    if (row?.job_id !== jobId || row.state !== 'started' || !row.started_at) return
    const importer = new Importer({
      ...{ appNo, dryRun: row.dry_run, now: seconds(row.started_at), parity: true },
      settings: settingsInForce(await getSettings.one(db, { appNo })),
    })
    const erasedUsers = erasedUsersOf(deps, appNo)
    const load = new Load(db)
    let counts = { ...noCounts(), ...row.counts }
    let place: Place = row.place ?? { part: 1, line: 0, piece: 0 }
    /** Stores the outcomes of a piece in its transaction, and where to go on. */
    const reach = async (next: Place, work: Piece): Promise<void> => {
      const started = performance.now()
      let sum = counts
      await checkpoint(async (tx) => {
        // First: whoever pauses it, cancels it or erases a user waits for this transaction, or this one sees it.
        const held = await holdStarted.maybeOne(tx, { ...one, jobId })
        if (!held) throw new Superseded()
        const outcomes = await work(tx, await erasedUsers(held.erasures))
        sum = countsWith(counts, outcomes)
        const problems = problemsOf(outcomes)
        await reachImport.run(tx, {
          ...{ ...one, place: JSON.stringify(next), counts: JSON.stringify(sum) },
          problems: JSON.stringify(problems.map((problem) => ({ ...problem, part: place.part }))),
          ...{
            refused: problems.length,
            sums: JSON.stringify(sumsOf(outcomes, row.by_conversation).map(asTexts)),
          },
        })
        return {}
      })
      counts = sum
      place = next
      await load.rest(performance.now() - started, signal)
    }
    const importBatch = async (batch: Batch, line: number) => {
      const { part } = place
      const from = { part, line: place.line }
      let piece = 0
      if (place.piece === 0) await reach({ ...from, piece: 1 }, async () => batch.outcomes)
      for (const work of importer.pieces(batch)) {
        piece++
        if (piece >= place.piece) await reach({ ...from, piece: piece + 1 }, work)
      }
      place = { part, line, piece: 0 }
    }
    try {
      while (place.part <= row.parts) {
        const { part } = place
        const { content } = await findPart.one(db, { ...one, part })
        let batch = new Batch()
        let last = place.line
        for await (const line of linesOf(content)) {
          if (line.line <= place.line) continue
          await importer.read(line, batch)
          last = line.line
          // The process has other work, too.
          if (batch.size % 50 === 0) await setImmediate()
          if (!batch.full) continue
          await importBatch(batch, last)
          batch = new Batch()
        }
        if (batch.size > 0) await importBatch(batch, last)
        place = { part: part + 1, line: 0, piece: 0 }
        await progress(part, row.parts)
      }
      const state = row.dry_run ? 'checked' : 'done'
      await reach(place, async (tx) => {
        if (!row.dry_run) await removeParts.run(tx, one)
        await setImportState.run(tx, { ...one, state, ended: true })
        return []
      })
    } catch (error) {
      // Somebody paused, cancelled or deleted it, and another job may have it by now.
      if (!(error instanceof Superseded)) throw error
    }
  },
})

/** Numbers of JSON are too small for checksums. */
const asTexts = ({ checksum, thereChecksum, ...sums }: Sums) => ({
  ...{ ...sums, checksum: String(checksum), thereChecksum: String(thereChecksum) },
})

class Superseded extends Error {}

/** The users of erasures, each read once from the ledger. */
function erasedUsersOf(deps: Deps, appNo: number) {
  const known = new Map<number, ErasedUser | undefined>()
  return async (ids: number[]): Promise<ErasedUser[]> => {
    for (const id of ids) if (!known.has(id)) known.set(id, await erasedUser(deps, appNo, id))
    return ids.flatMap((id) => known.get(id) ?? [])
  }
}

const linesOf = (content: Buffer) =>
  readLines(Readable.from([content], { objectMode: false }), LINE_BYTES, PART)

export const sweepImportsJob = defineJob({
  name: 'imports.sweep',
  summary: 'Deletes imports that expired.',
  input: Type.Object({}),
  schedule: { everySeconds: 3_600 },
  async run({ signal, context: { cell } }) {
    while (!signal.aborted && (await removeOldImports.one(cell.db, {})).removed > 0);
  },
})
