import { randomUUID } from 'node:crypto'
import type { Actor } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import type { Turn } from '../../gate/turn.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { MediaGone, MediaNotReady, type MediaServer } from '../../platform/media/server.ts'
import { iceServersFor } from '../../platform/media/turn.ts'
import { findSeen } from './actions.ts'
import { type LockedCall, lockCall } from './change.ts'
import {
  type ConnectionRow,
  countMedia,
  deleteConnections,
  findConnection,
  insertConnection,
  listSent,
  setSending,
} from './media.queries.ts'
import {
  announceMedia,
  askServer,
  closeIfOver,
  drop,
  publicationsOf,
  roomOf,
  unavailable,
} from './media.ts'
import { refuseMedia, refuseSending } from './policy.ts'
import { type CallRow, listParticipants, type ParticipantRow } from './queries.ts'
import { notFound } from './record.ts'
import { beginRecordings } from './recording.queries.ts'
import type {
  AnswerBody,
  CallMedia,
  Negotiated,
  NewPublication,
  SendingBody,
  SubscribeBody,
} from './schema.ts'
import type { Caller } from './start.actions.ts'

/** A device that is in a call. */
interface Seat {
  call: CallRow
  place: ParticipantRow
}

function seatOf(locked: Omit<LockedCall, 'actor' | 'files'>, deviceId: string | undefined): Seat {
  refuseIf(refuseMedia(locked, deviceId))
  const place = locked.own.find(({ state }) => state === 'ongoing') as ParticipantRow
  return { call: locked.call, place }
}

/** The place of the acting user's device. Everyone else is refused, before the media server is asked. */
async function findSeat(actor: Caller, sessionId: string, deviceId?: string): Promise<Seat> {
  const { app, uid } = actor
  const call = await findSeen(app.cell.db, actor, sessionId)
  const places = await listParticipants.many(app.cell.db, { appNo: app.no, ids: [call.id] })
  const own = places.filter((place) => place.uid === uid)
  return seatOf({ call, active: true, places, own }, deviceId)
}

/** The same under the lock of the call: the device may have left while the media server was asked. */
async function lockSeat(tx: Tx, actor: Caller, { call }: Seat, deviceId?: string): Promise<Seat> {
  const locked = await lockCall(tx, actor, call)
  if (!locked) throw notFound(String(call.id))
  return seatOf(locked, deviceId)
}

const missing = (id: string) => fail('ERR_CALL_MEDIA_NOT_FOUND', { id })

export async function getCallMedia(
  { media, config }: Deps,
  actor: Caller,
  sessionId: string,
  deviceId: string | undefined,
): Promise<CallMedia> {
  const { call } = await findSeat(actor, sessionId, deviceId)
  if (!(await media.isConfigured(actor.app.region))) throw unavailable()
  const publications = await publicationsOf(actor, call.id)
  const iceServers = iceServersFor(config.media, randomUUID())
  const recording = call.recording_since !== null
  return { version: call.media_version, recording, publications, iceServers }
}

/** What is stored of a new connection. */
type New = Pick<ConnectionRow, 'what' | 'handle' | 'audio' | 'video'> & { deviceId?: string }

/**
 * Stores a connection that the media server has made, in place of the device's earlier one. If the device has left or this
 * is a retry, nobody needs the new one.
 */
async function keep(
  deps: Deps,
  actor: Caller,
  seat: Seat,
  server: MediaServer,
  { deviceId, ...made }: New,
  answer: (connection: string) => Pick<Negotiated, 'publicationId' | 'sdp'>,
): Promise<Negotiated> {
  const connection = randomUUID()
  const address = server.address
  const unused = { ...made, server: address } as ConnectionRow
  let replaced: ConnectionRow[] = []
  let kept: string | undefined
  try {
    const result = await write(deps, actor, async (tx) => {
      const { call, place } = await lockSeat(tx, actor, seat, deviceId)
      if (call.media_server !== address) throw unavailable()
      const one = { appNo: actor.app.no, id: call.id }
      const where = { ...one, uid: actor.uid, no: place.no }
      const before = await findConnection.maybeOne(tx, { ...where, what: made.what })
      replaced = before ? await deleteConnections.many(tx, { ...one, connection: before.id }) : []
      await insertConnection.run(tx, { ...where, ...made, connection, server: address })
      const sends = made.what === 'camera' || made.what === 'screen'
      const version = sends ? (await countMedia.one(tx, one)).version : call.media_version
      if (sends && call.recording_since) await beginRecordings.run(tx, one)
      return { ...answer(connection), version, connection }
    })
    const { connection: stored, ...negotiated } = result
    kept = stored
    return negotiated
  } finally {
    await drop(deps, kept === connection ? replaced : [unused])
  }
}

/** The streams that a description offers; those with port 0 are switched off. */
const streamsIn = (sdp: string) =>
  [...sdp.matchAll(/^m=(\S*) ?(\S*)/gm)].flatMap(([, kind, port]) => (port === '0' ? [] : [kind]))

/** One of audio and one of video, and nothing else: the media server would accept more than the others expect. */
function refuseStreams(sdp: string, allowed: readonly string[]): void {
  const streams = streamsIn(sdp)
  const known = streams.every((kind, nth) => streams.indexOf(kind) === nth)
  if (known && streams.every((kind) => allowed.includes(kind ?? ''))) return
  throw badRequest({
    sdp: [
      allowed.includes('video')
        ? 'sdp may offer one audio and one video stream'
        : 'This is an audio call. Start a video call to send video.',
    ],
  })
}

export async function publishCallMedia(
  deps: Deps,
  actor: Caller,
  sessionId: string,
  body: NewPublication,
  turn: Turn | undefined,
): Promise<Negotiated> {
  const { deviceId, source, audio, video, sdp } = body
  const seat = await findSeat(actor, sessionId, deviceId)
  const { call } = seat
  refuseIf(refuseSending(seat, actor.uid))
  refuseStreams(
    sdp,
    call.type === 'video' ? ['audio', 'video'] : source === 'screen' ? [] : ['audio'],
  )
  const asked: MediaServer[] = []
  const publish = async (server: MediaServer) => {
    asked.push(server)
    const { handle, sdp: description } = await server.publish(roomOf(call), sdp)
    return { server, handle, description }
  }
  try {
    const made = await askServer(deps, actor, call, publish, turn)
    const { server, handle, description } = made
    const connection = { what: source, handle, audio, video, ...(deviceId && { deviceId }) }
    const answer = await keep(deps, actor, seat, server, connection, (publicationId) => ({
      ...{ publicationId, sdp: description },
    }))
    await announceMedia(deps, actor, call.id)
    return answer
  } finally {
    await closeIfOver(deps, actor, call, asked)
  }
}

export async function subscribeCallMedia(
  deps: Deps,
  actor: Caller,
  sessionId: string,
  publicationId: string,
  { deviceId }: SubscribeBody,
  turn: Turn | undefined,
): Promise<Negotiated> {
  const seat = await findSeat(actor, sessionId, deviceId)
  const { call } = seat
  const { app } = actor
  const sent = await listSent.many(app.cell.db, { appNo: app.no, id: call.id })
  const from = sent.find(({ id }) => id === publicationId)
  if (!from || from.uid === actor.uid) throw missing(publicationId)
  const subscribe = async (server: MediaServer) => {
    // The call has moved: the publisher isn't there yet.
    if (server.address !== from.server) throw new MediaGone()
    return { server, ...(await server.subscribe(roomOf(call), from.handle)) }
  }
  try {
    const made = await askServer(deps, actor, call, subscribe, turn)
    const { server, handle, sdp } = made
    const row = { what: publicationId, handle, audio: false, video: false }
    const connection = { ...row, ...(deviceId && { deviceId }) }
    return await keep(deps, actor, seat, server, connection, () => ({ publicationId, sdp }))
  } catch (error) {
    // The device asks again soon.
    if (error instanceof MediaNotReady) throw missing(publicationId)
    if (!(error instanceof MediaGone)) throw error
    await forget(deps, actor, call, publicationId)
    throw missing(publicationId)
  }
}

/** The media server has lost what a device sends. The device sees that in the next list, and connects again. */
async function forget(deps: Deps, actor: Actor, call: CallRow, connection: string): Promise<void> {
  const one = { appNo: actor.app.no, id: call.id }
  const gone = await actor.app.cell.db.tx(async (tx) => {
    await lockCall(tx, actor, call)
    const deleted = await deleteConnections.many(tx, { ...one, connection })
    await countMedia.one(tx, one)
    return deleted
  })
  await drop(deps, gone)
  await announceMedia(deps, actor, call.id)
}

export async function answerCallMedia(
  deps: Deps,
  actor: Caller,
  sessionId: string,
  publicationId: string,
  { deviceId, sdp }: AnswerBody,
  turn: Turn | undefined,
) {
  const { call, place } = await findSeat(actor, sessionId, deviceId)
  const { app, uid } = actor
  const where = { appNo: app.no, id: call.id, uid, no: place.no, what: publicationId }
  const found = await findConnection.maybeOne(app.cell.db, where)
  const server = found && (await deps.media.find(found.server))
  if (!server) throw missing(publicationId)
  try {
    await askServer(deps, actor, call, () => server.answer(found.handle, sdp), turn)
  } catch (error) {
    throw error instanceof MediaGone ? missing(publicationId) : error
  }
  const message = 'The media server sends it to this device.'
  return write(deps, actor, async () => ({ success: true as const, message }))
}

/** Locks the call and finds what the acting user's device sends. */
async function lockSent(
  tx: Tx,
  actor: Caller,
  seat: Seat,
  publicationId: string,
  deviceId: string | undefined,
) {
  const { call, place } = await lockSeat(tx, actor, seat, deviceId)
  const one = { appNo: actor.app.no, id: call.id }
  const sent = await listSent.many(tx, one)
  const own = ({ id, uid, no }: ConnectionRow) =>
    id === publicationId && uid === actor.uid && no === place.no
  if (!sent.some(own)) throw missing(publicationId)
  return { ...one, connection: publicationId }
}

export async function updateCallMedia(
  deps: Deps,
  actor: Caller,
  sessionId: string,
  publicationId: string,
  { deviceId, audio, video }: SendingBody,
) {
  const seat = await findSeat(actor, sessionId, deviceId)
  const answer = await write(deps, actor, async (tx) => {
    const one = await lockSent(tx, actor, seat, publicationId, deviceId)
    await setSending.run(tx, { ...one, audio, video })
    await countMedia.one(tx, one)
    return { success: true as const, message: 'The others in the call see it.' }
  })
  await announceMedia(deps, actor, seat.call.id)
  return answer
}

export async function removeCallMedia(
  deps: Deps,
  actor: Caller,
  sessionId: string,
  publicationId: string,
  deviceId: string | undefined,
) {
  const seat = await findSeat(actor, sessionId, deviceId)
  let gone: ConnectionRow[] = []
  const answer = await write(deps, actor, async (tx) => {
    const one = await lockSent(tx, actor, seat, publicationId, deviceId)
    gone = await deleteConnections.many(tx, one)
    await countMedia.one(tx, one)
    return { success: true as const, message: 'The device stopped sending.' }
  })
  await drop(deps, gone)
  await announceMedia(deps, actor, seat.call.id)
  return answer
}
