/** The media server of a call, and the list of what devices send to it. */
import type { ServerBody } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { publishEphemeral } from '../../core/ephemeral.ts'
import type { Deps } from '../../deps.ts'
import type { Turn } from '../../gate/turn.ts'
import { ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import {
  MediaFailed,
  MediaGone,
  MediaNotReady,
  MediaRefused,
  type MediaServer,
} from '../../platform/media/server.ts'
import { lockCall } from './change.ts'
import {
  type ConnectionRow,
  enqueueDrop,
  listSent,
  loseMedia,
  regainMedia,
  setMediaServer,
} from './media.queries.ts'
import { type CallRow, findCall, listParticipants } from './queries.ts'
import { sessionIdOf } from './record.ts'

/** The media server's name of a call. No two apps have the same. */
export const roomOf = ({ mid }: Pick<CallRow, 'mid'>) => mid

export type Publications = ServerBody<'call.media'>['publications']

/** What the devices in a call send at this moment. */
export async function publicationsOf({ app }: Actor, id: number): Promise<Publications> {
  const rows = await listSent.many(app.cell.db, { appNo: app.no, id })
  return rows.map((row) => ({
    id: row.id,
    uid: row.uid,
    ...(row.device_id !== null && { deviceId: row.device_id }),
    source: row.what as 'camera' | 'screen',
    audio: row.audio,
    video: row.video,
  }))
}

/** Shows everyone in the call what its devices send. Call it after the transaction of a change. */
export async function announceMedia({ bus }: Deps, actor: Actor, id: number): Promise<void> {
  const { app } = actor
  const { db } = app.cell
  // Read before the list: a list that is newer than its version is replaced by the next one, never the other way round.
  const call = await findCall.maybeOne(db, { appNo: app.no, id })
  if (!call) return
  const publications = await publicationsOf(actor, id)
  const places = await listParticipants.many(db, { appNo: app.no, ids: [id] })
  const users = places.filter(({ state }) => state === 'ongoing').map(({ uid }) => uid)
  const { media_version: version, recording_since: since } = call
  const body = { sessionId: sessionIdOf(app, id), version, recording: since !== null, publications }
  const frame = JSON.stringify({ type: 'call.media', body })
  publishEphemeral(bus, app.no, { audience: { users: [...new Set(users)], by: '' }, frame })
}

export const unavailable = () => fail('ERR_CALL_MEDIA_UNAVAILABLE')

/** The server that the call is on. If it has none, or its server is `lost`, the call moves to the one with the least load. */
async function serverOf(
  deps: Deps,
  actor: Actor,
  call: CallRow,
  lost?: MediaServer,
): Promise<MediaServer> {
  const { media } = deps
  const current = await media.find(call.media_server)
  if (current && current !== lost) return current
  const { no: appNo, cell, region } = actor.app
  const chosen = await media.choose(region, lost?.address)
  // Until the directory was read, nobody knows whether the call's server is gone.
  const isKnown = media.isLoaded || lost !== undefined
  if (!isKnown && (call.media_server !== null || !chosen)) throw unavailable()
  if (!chosen) {
    // A call that never had a media server loses nothing: its devices may connect directly.
    if (call.media_server === null && !(await media.isConfigured(region))) throw unavailable()
    await loseMedia.run(cell.db, { appNo, id: call.id })
    throw unavailable()
  }
  const address = await cell.db.tx(async (tx) => {
    const locked = await lockCall(tx, actor, call)
    if (locked?.call.status !== 'ongoing') throw fail('ERR_CALL_TERMINATED')
    // Another device has moved it meanwhile, or was served.
    const { media_server: now, media_version: version } = locked.call
    if (version !== call.media_version && (await media.find(now))) return now
    const gone = await setMediaServer.many(tx, { appNo, id: call.id, server: chosen.address })
    // A server that hangs may go on later, with the room and everyone in it.
    if (now !== null) {
      const left = JSON.stringify(gone.map(({ server, handle }) => ({ server, handle })))
      await enqueueDrop.run(tx, { appNo, id: call.id, server: now, left })
    }
    return chosen.address
  })
  const server = await media.find(address)
  if (!server) throw unavailable()
  await announceMedia(deps, actor, call.id)
  return server
}

/**
 * Asks the call's media server. If it doesn't answer, the call moves to another one, which is asked then. The request's
 * `turn` isn't needed meanwhile. If it gets no turn again, what the media server has made ends with the call's room.
 */
export async function askServer<T>(
  deps: Deps,
  actor: Actor,
  call: CallRow,
  ask: (server: MediaServer) => Promise<T>,
  turn: Turn | undefined,
): Promise<T> {
  const answer = async (server: MediaServer) => {
    const asked = refused(ask(server))
    const answered = await (turn?.outside(asked) ?? asked)
    if (call.media_lost_at) await regain(actor, call)
    return answered
  }
  const server = await serverOf(deps, actor, call)
  try {
    return await answer(server)
  } catch (error) {
    rethrowAnswer(deps, server, error)
    const other = await serverOf(deps, actor, call, server)
    if (other === server) throw unavailable()
    return await answer(other).catch((second) => {
      rethrowAnswer(deps, other, second)
      throw unavailable()
    })
  }
}

/** Throws what a media server has answered. Returns if it gave no answer. */
function rethrowAnswer({ log, media }: Deps, server: MediaServer, error: unknown): void {
  if (error instanceof ApiError || error instanceof MediaGone) throw error
  if (error instanceof MediaNotReady) throw error
  const about = { err: error, server: server.address }
  if (error instanceof MediaFailed) {
    log.warn(about, 'a media server refuses a request')
    throw unavailable()
  }
  log.warn(about, 'a media server does not answer')
  media.doubt(server)
}

const regain = ({ app }: Actor, { id }: CallRow) =>
  regainMedia.run(app.cell.db, { appNo: app.no, id })

/**
 * Moves a call whose media server doesn't answer to another one, without waiting until its devices notice. Without another
 * one, the call ends soon. Never fails, since it is looked at again and again.
 */
export async function checkServer(deps: Deps, actor: Actor, call: CallRow): Promise<void> {
  try {
    if (call.media_server === null) return
    const server = await deps.media.find(call.media_server)
    const answers = server && (await deps.media.answers(server))
    if (!answers) await serverOf(deps, actor, call, server)
    else if (call.media_lost_at) await regain(actor, call)
  } catch (error) {
    // Mostly because no server answers.
    deps.log.warn({ err: error, server: call.media_server }, 'a call has no media server')
  }
}

async function refused<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof MediaRefused) throw badRequest({ sdp: [error.message] })
    throw error
  }
}

/**
 * Publishing makes the call's room if there is none. If the call ended meanwhile, the job that closes its room may have run
 * before that, so whoever made the room looks once more. A call that is over stays so, so nobody needs the room again.
 */
export async function closeIfOver(
  { log }: Deps,
  { app }: Actor,
  call: CallRow,
  asked: readonly MediaServer[],
): Promise<void> {
  if (asked.length === 0) return
  try {
    const now = await findCall.maybeOne(app.cell.db, { appNo: app.no, id: call.id })
    if (now?.status === 'ongoing') return
    for (const server of asked) await server.close(roomOf(call))
  } catch (error) {
    log.warn({ err: error, call: call.id }, 'a room may be left at a media server')
  }
}

/** Ends connections whose rows are gone. A server that doesn't answer drops them with their room. */
export async function drop(
  { media, log }: Deps,
  rows: readonly Pick<ConnectionRow, 'server' | 'handle'>[],
): Promise<void> {
  await Promise.all(
    rows.map(async ({ server, handle }) => {
      const dropped = (await media.find(server))?.drop(handle)
      await dropped?.catch((error) =>
        log.warn({ err: error, server }, 'a connection was not ended'),
      )
    }),
  )
}
