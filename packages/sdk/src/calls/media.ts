import { LoquatError } from '../error.ts'
import type { CallMedia, Publication } from '../operations.gen.ts'
import { Receiving } from './receiving.ts'
import { type Line, Sending, type Source } from './sending.ts'
import type { CallStream, CallTrack, Ice } from './web.ts'

/** How long to wait before connecting again after a failure. */
const RETRY_MS = 2_000

/** How long the credentials of a relay are used, which it accepts for an hour. */
const ICE_MS = 50 * 60_000

/** The answers to a device that isn't in the call, or can't be any more. */
const OVER = ['ERR_CALL_NOT_A_PART', 'ERR_CALL_TERMINATED', 'ERR_CALL_SESSION_NOT_FOUND']
const isOver = (error: unknown) =>
  error instanceof LoquatError && (OVER.includes(error.code) || error.status === 401)

interface Listeners {
  onChange: () => void
  /** This device isn't in the call any more. */
  onOver: () => void
}

type Kind = 'audio' | 'video'
type Switches = { audio: boolean; video: boolean }

/**
 * The audio and video of one call: makes what this device sends and receives equal to the list of what the devices in the
 * call send, after each change of the list and after each lost connection.
 */
export class Media {
  readonly line: Line
  publications: readonly Publication[] = []
  /** Whether what devices send is recorded. */
  recording = false
  error: Error | undefined
  /** Whether this device sends what it should, so that nothing is missing any more. */
  ready = false
  readonly #own: string
  readonly #onChange: () => void
  readonly #onOver: () => void
  readonly #sending = new Map<Source, Sending>()
  readonly #receiving = new Map<string, Receiving>()
  #version = -1
  #closed = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #ice: Ice[] = []
  #iceUntil = 0

  constructor(line: Omit<Line, 'iceServers'>, own: string, { onChange, onOver }: Listeners) {
    this.line = { ...line, iceServers: () => this.#iceServers() }
    this.#own = own
    this.#onChange = onChange
    this.#onOver = onOver
  }

  /** Whether everything that should be connected is. */
  get connected(): boolean {
    const all = [...this.#sending.values(), ...this.#receiving.values()]
    return this.ready && all.every(({ connected }) => connected)
  }

  received(publicationId: string): Receiving | undefined {
    return this.#receiving.get(publicationId)
  }

  /** Reads the list. Rejects if the call has no media. */
  async refresh(): Promise<void> {
    const { api, sessionId, deviceId } = this.line
    const media = await api.getMedia(sessionId, { deviceId })
    this.#ice = media.iceServers
    this.#iceUntil = Date.now() + ICE_MS
    this.apply(media)
  }

  /** Takes over a list of what devices send, unless a newer one is known. */
  apply(media: Pick<CallMedia, 'version' | 'publications' | 'recording'>): void {
    const { version, publications } = media
    if (this.#closed || version < this.#version) return
    this.#version = version
    this.recording = media.recording
    this.publications = publications
    const others = publications.filter(({ uid }) => uid !== this.#own)
    for (const [id, receiving] of this.#receiving) {
      if (others.some((one) => one.id === id)) continue
      receiving.close()
      this.#receiving.delete(id)
    }
    for (const { id } of others) if (!this.#receiving.has(id)) this.#receive(id)
    for (const sending of this.#sending.values()) {
      const { publicationId } = sending
      const known = publications.some(({ id }) => id === publicationId)
      // The media server has lost it, or the call has moved to another one.
      if (publicationId !== undefined && !known && version >= sending.version)
        this.#reconnect(sending)
    }
    this.#onChange()
  }

  /** Sends a stream from now on, in place of the earlier one of the same source. `open` connects it. */
  send(source: Source, stream: CallStream, kinds: Kind[], switches: Switches): void {
    this.#sending.get(source)?.close()
    const lose = () => {
      if (this.#sending.get(source) === sending) this.#reconnect(sending)
    }
    const sending = new Sending(this.line, source, stream, kinds, switches, this.#onChange, lose)
    this.#sending.set(source, sending)
  }

  /** Reads the list and connects what isn't connected. If that fails, it is tried again and again. */
  async open(): Promise<void> {
    try {
      await this.refresh()
      if (this.#closed) return
      for (const sending of this.#sending.values())
        if (sending.publicationId === undefined) await sending.connect()
    } catch (error) {
      if (this.#closed) return
      if (isOver(error)) this.#onOver()
      else this.retry(error)
      throw error
    }
    this.ready = true
    this.error = undefined
    this.#onChange()
  }

  async switch(switches: Switches, kind: Kind, track: CallTrack | null): Promise<void> {
    await this.#sending.get('camera')?.set(switches, kind, track)
  }

  /** Stops sending, for example the screen. */
  async stop(source: Source): Promise<void> {
    const sending = this.#sending.get(source)
    this.#sending.delete(source)
    sending?.close()
    const { api, sessionId, deviceId } = this.line
    if (sending?.publicationId)
      await api.removeMedia(sessionId, sending.publicationId, { deviceId })
  }

  /** Reads the list again soon: something failed. */
  retry(error?: unknown): void {
    if (this.#closed) return
    if (error instanceof LoquatError) this.error = error
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.open().catch(() => undefined), RETRY_MS)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const sending of this.#sending.values()) sending.close()
    for (const receiving of this.#receiving.values()) receiving.close()
  }

  /** Calls can last for hours, and connections are made at any time. */
  async #iceServers(): Promise<Ice[]> {
    if (Date.now() >= this.#iceUntil) await this.refresh()
    return this.#ice
  }

  #receive(id: string): void {
    const lose = () => {
      if (this.#receiving.get(id) !== receiving) return
      receiving.close()
      this.#receiving.delete(id)
      this.retry()
      this.#onChange()
    }
    const receiving = new Receiving(this.line, id, this.#onChange, lose)
    this.#receiving.set(id, receiving)
    receiving.connect().then(this.#onChange, lose)
  }

  /** Its own publication is in the list once that is done. */
  #reconnect(sending: Sending): void {
    sending.publicationId = undefined
    sending.connect().catch((error) => this.retry(error))
  }
}
