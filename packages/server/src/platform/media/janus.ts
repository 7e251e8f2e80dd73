import { randomUUID } from 'node:crypto'
import {
  type Connection,
  MediaFailed,
  MediaGone,
  MediaNotReady,
  MediaRefused,
  type MediaServer,
} from './server.ts'

/** How long Janus may take. It answers in milliseconds, but has to find its own addresses first. */
const TIMEOUT_MS = 10_000

const PLUGIN = 'janus.plugin.videoroom'
/** Error codes of Janus and of its plugin. */
const NO_SUCH_SESSION = 458
const NO_SUCH_HANDLE = 459
const NO_SUCH_ROOM = 426
const ROOM_EXISTS = 427
const NO_SUCH_FEED = 428
const GONE = [NO_SUCH_SESSION, NO_SUCH_HANDLE, NO_SUCH_FEED]

/** Bits per second of a device's video: enough for 720p. */
const BITRATE = 1_500_000

interface Description {
  type: 'offer' | 'answer'
  sdp: string
}

interface Reply {
  janus: string
  transaction?: string
  data?: { id: number }
  error?: { code: number; reason: string }
  plugindata?: {
    data: {
      id?: number
      error_code?: number
      error?: string
      list?: { num_participants: number }[]
    }
  }
  jsep?: Description
}

class JanusError extends MediaFailed {
  readonly code: number

  constructor(code: number, reason: string) {
    super(reason)
    this.code = code
  }
}

/** A session with one handle of the plugin. */
interface Place {
  session: number
  handle: number
}

/**
 * Janus with its VideoRoom plugin, over HTTP. Each connection is a session of its own, whose numbers are in the handle, so
 * that any process can go on with it. Janus must not end idle sessions (`session_timeout = 0`): nobody polls them.
 */
export class JanusServer implements MediaServer {
  readonly address: string
  readonly #url: string
  readonly #secret: string
  readonly #recordings: string

  constructor(address: string, secret: string, recordings = '') {
    this.address = address
    this.#recordings = recordings
    this.#url = address.replace(/^janus\+/, '').replace(/\/$/, '')
    this.#secret = secret
  }

  async publish(room: string, sdp: string): Promise<Connection> {
    const join = { request: 'joinandconfigure', ptype: 'publisher', room: numberOf(room) }
    const jsep: Description = { type: 'offer', sdp }
    return this.#open(async (place) => {
      // First, because a handle can't try again after a failure.
      await this.#createRoom(place, room)
      return this.#negotiate(place, join, jsep)
    })
  }

  subscribe(room: string, publisher: string): Promise<Connection> {
    const [session = '', , feed] = publisher.split('/')
    const streams = [{ feed: Number(feed) }]
    const join = { request: 'join', ptype: 'subscriber', room: numberOf(room), streams }
    return this.#open((place) =>
      this.#negotiate(place, join).catch(async (error) => {
        if (isError(error, NO_SUCH_ROOM)) throw new MediaGone()
        // Janus knows a feed only when its connection stands.
        if (error instanceof MediaGone && (await this.#lives(session))) throw new MediaNotReady()
        throw error
      }),
    )
  }

  async answer(handle: string, sdp: string): Promise<void> {
    const [session = 0, number = 0] = handle.split('/').map(Number)
    await this.#ask({ session, handle: number }, { request: 'start' }, { type: 'answer', sdp })
  }

  async record(handle: string, name: string | undefined): Promise<void> {
    const [session = 0, number = 0] = handle.split('/').map(Number)
    const record = name === undefined ? { record: false } : { record: true, filename: name }
    await this.#ask({ session, handle: number }, { request: 'configure', ...record })
  }

  async drop(handle: string): Promise<void> {
    const [session] = handle.split('/')
    await this.#post(`/${session}`, { janus: 'destroy' }).catch((error) => {
      if (!(error instanceof MediaGone)) throw error
    })
  }

  async close(room: string): Promise<void> {
    await this.#briefly((place) =>
      this.#ask(place, { request: 'destroy', room: numberOf(room) }).catch((error) => {
        if (!isError(error, NO_SUCH_ROOM)) throw error
      }),
    )
  }

  load(): Promise<number> {
    return this.#briefly(async (place) => {
      const { plugindata } = await this.#ask(place, { request: 'list' })
      const rooms = plugindata?.data.list ?? []
      return rooms.reduce((sum, { num_participants: devices }) => sum + devices, 0)
    })
  }

  stop(): void {}

  /** Makes a connection. If that fails, nothing is left of it. */
  async #open(work: (place: Place) => Promise<{ feed: number; sdp: string }>): Promise<Connection> {
    const place = await this.#attach()
    try {
      const { feed, sdp } = await work(place)
      return { handle: `${place.session}/${place.handle}/${feed}`, sdp }
    } catch (error) {
      await this.drop(String(place.session)).catch(() => undefined)
      throw error
    }
  }

  async #briefly<T>(work: (place: Place) => Promise<T>): Promise<T> {
    const place = await this.#attach()
    try {
      return await work(place)
    } finally {
      await this.drop(String(place.session)).catch(() => undefined)
    }
  }

  async #attach(): Promise<Place> {
    const session = (await this.#post('', { janus: 'create' })).data?.id ?? 0
    try {
      const attached = await this.#post(`/${session}`, { janus: 'attach', plugin: PLUGIN })
      return { session, handle: attached.data?.id ?? 0 }
    } catch (error) {
      await this.drop(String(session)).catch(() => undefined)
      throw error
    }
  }

  async #lives(session: string): Promise<boolean> {
    try {
      await this.#post(`/${session}`, { janus: 'keepalive' })
      return true
    } catch (error) {
      if (error instanceof MediaGone) return false
      throw error
    }
  }

  async #negotiate(place: Place, body: object, offer?: Description) {
    const { plugindata, jsep } = await this.#ask(place, body, offer)
    if (!jsep) throw new Error('Janus sent no description')
    return { feed: plugindata?.data.id ?? 0, sdp: jsep.sdp }
  }

  async #createRoom(place: Place, room: string): Promise<void> {
    const codecs = { audiocodec: 'opus', videocodec: 'vp8,h264' }
    const limits = { publishers: 100, bitrate: BITRATE, fir_freq: 10 }
    const create = { request: 'create', room: numberOf(room), permanent: false, is_private: false }
    // Each room records into a folder of its own.
    const folder = this.#recordings ? { rec_dir: `${this.#recordings}/${room}` } : {}
    await this.#ask(place, { ...create, ...codecs, ...limits, ...folder }).catch((error) => {
      // Of another device.
      if (!isError(error, ROOM_EXISTS)) throw error
    })
  }

  /** Sends a request to the plugin, and waits for its answer, which may be an event. */
  async #ask({ session, handle }: Place, body: object, jsep?: Description): Promise<Reply> {
    const transaction = randomUUID()
    const message = { janus: 'message', transaction, body, ...(jsep && { jsep }) }
    let reply = await this.#post(`/${session}/${handle}`, message)
    const deadline = Date.now() + TIMEOUT_MS
    while (reply.janus === 'ack' || reply.transaction !== transaction) {
      if (Date.now() > deadline) throw new Error('Janus sent no answer')
      reply = await this.#poll(session)
    }
    const { error_code: code, error = '' } = reply.plugindata?.data ?? {}
    if (code !== undefined) throw errorOf(code, error)
    return reply
  }

  async #post(path: string, message: object): Promise<Reply> {
    const body = { transaction: randomUUID(), ...this.#credentials, ...message }
    return this.#request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }

  #poll(session: number): Promise<Reply> {
    const query = this.#secret && `&apisecret=${encodeURIComponent(this.#secret)}`
    return this.#request(`/${session}?maxev=1${query}`, {})
  }

  get #credentials() {
    return this.#secret ? { apisecret: this.#secret } : {}
  }

  async #request(path: string, init: RequestInit): Promise<Reply> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(this.#url + path, { ...init, signal, redirect: 'error' })
    const answer = (await response.json()) as Reply | Reply[]
    const reply = Array.isArray(answer) ? answer[0] : answer
    if (!reply) throw new Error('Janus sent nothing')
    if (reply.error) throw errorOf(reply.error.code, reply.error.reason)
    return reply
  }
}

/** Rooms have numbers of at most 53 bits. The first 48 bits of a UUID are random. */
const numberOf = (room: string) => Number.parseInt(room.replaceAll('-', '').slice(0, 12), 16)

const isError = (error: unknown, code: number) => error instanceof JanusError && error.code === code

function errorOf(code: number, reason: string): Error {
  if (GONE.includes(code)) return new MediaGone(reason)
  // 465: the description isn't valid. Others in the same row are about requests, which are ours.
  return code === 465 ? new MediaRefused(reason) : new JanusError(code, reason)
}
