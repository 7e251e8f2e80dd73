import type { Logger } from '../log/log.ts'
import { JanusServer } from './janus.ts'
import type { MediaServer } from './server.ts'
import { WeriftServer } from './werift.ts'

export interface MediaOptions {
  /** Their addresses. */
  servers: readonly string[]
  /** The addresses of those that get no new calls. */
  drained: readonly string[]
  /** Of those that have one. */
  secret: string
  /** The folder in which they record. Empty: none. */
  recordings: string
}

/** How long what a server said about its load is used. */
const LOAD_MS = 5_000

/** The media servers of this installation. */
export class Media {
  /** The folder in which servers record, as this process sees it. Empty: nothing is recorded. */
  readonly recordings: string
  readonly #servers: MediaServer[]
  /** Those that get new calls. */
  readonly #open: MediaServer[]
  readonly #loads = new Map<MediaServer, { load: number; until: number }>()
  readonly #log: Logger

  constructor({ servers, drained, secret, recordings }: MediaOptions, log: Logger) {
    this.#log = log
    this.recordings = recordings
    this.#servers = servers.map((address) =>
      address === 'werift'
        ? new WeriftServer(recordings)
        : new JanusServer(address, secret, recordings),
    )
    this.#open = this.#servers.filter(({ address }) => !drained.includes(address))
  }

  /** Whether this installation carries audio and video at all. */
  get configured(): boolean {
    return this.#servers.length > 0
  }

  /** The server that a call is on. Undefined if it isn't in the configuration any more. */
  find(address: string | null): MediaServer | undefined {
    return this.#servers.find((server) => server.address === address)
  }

  /** For a new call: the server with the least load that answers, but not `except`, unless there is no other one. */
  async choose(except?: string | null): Promise<MediaServer | undefined> {
    const loads = await Promise.all(this.#open.map((server) => this.#loadOf(server)))
    const rank = (index: number) => (this.#open[index]?.address === except ? 1 : 0)
    const [best] = this.#open
      .map((server, index) => ({ server, load: loads[index] as number, rank: rank(index) }))
      .filter(({ load }) => load < Number.POSITIVE_INFINITY)
      .sort((a, b) => a.rank - b.rank || a.load - b.load)
    return best?.server
  }

  stop(): void {
    for (const server of this.#servers) server.stop()
  }

  async #loadOf(server: MediaServer): Promise<number> {
    const known = this.#loads.get(server)
    if (known && known.until > performance.now()) return known.load
    const load = await server.load().catch((error: Error) => {
      this.#log.warn({ err: error, server: server.address }, 'a media server does not answer')
      return Number.POSITIVE_INFINITY
    })
    this.#loads.set(server, { load, until: performance.now() + LOAD_MS })
    return load
  }
}
