import { createHash } from 'node:crypto'
import { access, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import type { Actor } from '../../core/actor.ts'
import { type Deps, defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { announce } from '../../platform/events/announce.ts'
import { Postponed } from '../../platform/jobs/definition.ts'
import { MediaGone } from '../../platform/media/server.ts'
import { convertTrack, formatOf, readTrack, type Track } from '../../platform/media/track.ts'
import { driverOf } from '../files/actions.ts'
import { receiveFile } from '../files/receive.actions.ts'
import { lockCall, orderKeyOf } from './change.ts'
import { insertRecording } from './files.queries.ts'
import { isPatient, Patience, waitForServer } from './patience.ts'
import { type CallRow, findCall } from './queries.ts'
import { toRecording, toSummary } from './record.ts'
import {
  enqueueConvert,
  listEnded,
  listRecordings,
  listUntold,
  markTold,
  type RecordingRow,
  removeRecording,
} from './recording.queries.ts'

/** Tells the media server what to record. It may hear the same twice. */
export const recordJob = defineJob({
  name: 'calls.record',
  summary: 'Begins or ends the recording of what devices in a call send.',
  input: Type.Object({ id: Type.String() }),
  checkpoint: Patience,
  async run(run) {
    const { appNo, input, context } = run
    const { deps, cell } = context
    const one = { appNo, id: Number(input.id) }
    const silent = new Set<string>()
    const isWaiting = isPatient(run)
    for (const row of await listUntold.many(cell.db, one)) {
      const { id: recording, server, handle, room } = row
      const ended = row.ended_at !== null
      if (silent.has(server) && isWaiting) continue
      try {
        const current = await deps.media.find(server)
        await current?.record(handle, ended ? undefined : recording)
      } catch (error) {
        // If the server lost the connection, the device connects again, which begins another recording.
        if (!(error instanceof MediaGone)) {
          deps.log.warn({ err: error, server }, 'a media server does not answer')
          silent.add(server)
          if (isWaiting) continue
        }
      }
      await markTold.run(cell.db, { ...one, recording, ended })
      if (ended) await enqueueConvert.run(cell.db, { ...one, room })
    }
    if (silent.size > 0 && isWaiting) await waitForServer(run)
  },
})

/** Media servers close their files a moment after a connection has ended. */
const QUIET_MS = 3_000

/**
 * Converts what was recorded, stores it as files of the app and lists it in the record of the call. The id of a file follows
 * from its track, so that a run after a crash goes on with the same file. The tracks are deleted last.
 */
export const convertJob = defineJob({
  name: 'calls.convert',
  summary: 'Converts and stores the recordings of a call.',
  input: Type.Object({ id: Type.String(), room: Type.String() }),
  async run({ appNo, input: { id, room }, signal, context }) {
    const { deps, cell } = context
    const { recordings } = deps.media
    if (!recordings) throw new Error('this worker has no folder for recordings')
    await access(recordings)
    const one = { appNo, id: Number(id) }
    const folder = join(recordings, room)
    const conversion = new Conversion({
      deps,
      cell,
      folder,
      signal,
      actor: await appActor(context, appNo),
    })
    const call = await findCall.maybeOne(cell.db, one)
    let wait = 0
    const failures: unknown[] = []
    for (const row of await listEnded.many(cell.db, one)) {
      if (row.quiet_ms < QUIET_MS) wait = Math.max(wait, QUIET_MS - row.quiet_ms)
      // One track that can't be converted must not keep the others of the call from their record.
      else await conversion.store(call, row).catch((error) => failures.push(error))
    }
    signal.throwIfAborted()
    await removeLeft(folder, async () => listRecordings.many(cell.db, one))
    if (failures.length > 0) throw failures[0]
    if (wait > 0) throw new Postponed(wait)
  },
})

interface Parts {
  deps: Deps
  cell: Cell
  actor: Actor
  /** The tracks of the call. */
  folder: string
  signal: AbortSignal
}

interface Stored {
  fileId: string
  track: Track
}

class Conversion {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Nothing is kept of a call that was deleted, nor of a user who was erased. */
  async store(call: CallRow | undefined, row: RecordingRow & { ended_at: Date }): Promise<void> {
    const { cell, actor, folder, signal } = this.#parts
    const stored: Stored[] = []
    const kept = call !== undefined && row.uid !== null
    for (const name of kept ? await tracksOf(folder, row.id) : []) {
      signal.throwIfAborted()
      const track = await readTrack(join(folder, name))
      const fileId = track && (await this.#convert(name, track))
      if (fileId) stored.push({ track, fileId })
    }
    const appNo = actor.app.no
    await cell.db.tx(async (tx) => {
      const locked = call && (await lockCall(tx, actor, call))
      const one = { appNo, id: row.call_id }
      const counts = stored.length > 0
      const removed = await removeRecording.maybeOne(tx, { ...one, recording: row.id, counts })
      if (!removed || !locked) return
      for (const { fileId, track } of stored) {
        const { uid, source } = row
        const recording = await insertRecording.one(tx, {
          ...{ ...one, uid, source, file: fileId, type: track.type },
          ...{ startedAt: track.startedAt, endedAt: row.ended_at },
        })
        const payload = {
          call: toSummary(actor.app, locked.call),
          recording: toRecording(recording),
        }
        await announce(tx, { appNo, type: 'call.recorded', key: orderKeyOf(locked.call), payload })
      }
    })
  }

  /** Undefined if there is nothing in it to play. */
  async #convert(recorded: string, track: Track): Promise<string | undefined> {
    const { deps, actor, folder, signal } = this.#parts
    const { ending, mimeType } = formatOf(track)
    const scratch = await driverOf(deps).openScratch()
    try {
      const path = join(scratch, `${track.type}.${ending}`)
      await convertTrack(join(folder, recorded), path, signal)
      const { size } = (await stat(path).catch(isMissing)) ?? { size: 0 }
      if (size === 0) return undefined
      const id = createHash('sha256').update(recorded).digest('hex').slice(0, 32)
      const name = `recording.${ending}`
      await receiveFile(deps, actor, id, { path, size, mimeType, name, anySize: true })
      return id
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }
}

/** Returns undefined for a file that isn't there, and throws every other error. */
function isMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

const namesIn = (folder: string) => readdir(folder).catch((): string[] => [])

/** The files of a recording: Janus adds the kind and the number of the track to its name. */
const tracksOf = async (folder: string, id: string) =>
  (await namesIn(folder)).filter((name) => name.startsWith(`${id}-`)).toSorted()

/** Deletes tracks that no row needs any more. Rows are there before their tracks, so they are read afterwards. */
async function removeLeft(folder: string, list: () => Promise<{ id: string }[]>): Promise<void> {
  const names = await namesIn(folder)
  const needed = await list()
  const left = names.filter((name) => !needed.some(({ id }) => name.startsWith(`${id}-`)))
  for (const name of left) await rm(join(folder, name), { force: true })
  // Only if it is empty.
  await rmdir(folder).catch(() => undefined)
}
