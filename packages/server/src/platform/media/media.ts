import { setTimeout as sleep } from 'node:timers/promises'
import type { Directory } from '../cells/directory.ts'
import type { Logger } from '../log/log.ts'
import { JanusServer } from './janus.ts'
import { listMediaServers, type MediaServerRow } from './queries.ts'
import type { MediaServer } from './server.ts'
import { WeriftServer } from './werift.ts'

export interface MediaOptions {
  /** The addresses of those that the environment names. */
  servers: readonly string[]
  /** Of those that have one. */
  secret: string
  /** The folder in which they record. Empty: none. */
  recordings: string
}

/** A media server, and what operators have decided about it. */
export interface KnownServer {
  server: MediaServer
  /** It gets no new calls. */
  drained: boolean
  /** It gets calls of apps in this region only. Null: of all regions that the process serves. */
  region: string | null
  /** The environment names it, so no command can remove it. */
  fixed: boolean
}

/** Servers answer in milliseconds. One that needs longer is left out, if another one has answered. */
const HANGS_MS = 2_000

const serves = (known: KnownServer, region: string) =>
  known.region === null || known.region === region

/** How long what a server said about its load is used. */
const LOAD_MS = 5_000

/**
 * The media servers of this installation: those in the environment and those in the directory. The directory is read when
 * the first call needs it, and from then on whenever apps and cells are.
 */
export class Media {
  /** The folder in which servers record, as this process sees it. Empty: nothing is recorded. */
  readonly recordings: string
  readonly #options: MediaOptions
  readonly #directory: Directory
  readonly #log: Logger
  readonly #loads = new Map<MediaServer, { load: Promise<number>; until: number }>()
  /** By address. */
  #known = new Map<string, KnownServer>()
  #isLoaded = false

  constructor(options: MediaOptions, directory: Directory, log: Logger) {
    this.recordings = options.recordings
    this.#options = options
    this.#directory = directory
    this.#log = log
    this.#know([])
    directory.onRefresh(async () => {
      if (this.#isLoaded) await this.#load()
    })
  }

  /** All of them, in the order of their addresses. */
  async list(): Promise<KnownServer[]> {
    await this.#loadFirst()
    const address = ({ server }: KnownServer) => server.address
    return [...this.#known.values()].toSorted((a, b) => (address(a) < address(b) ? -1 : 1))
  }

  /** Whether the directory was read. Before that, a server may exist that isn't known. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Whether this installation carries audio and video of apps in this region at all. */
  async isConfigured(region: string): Promise<boolean> {
    return (await this.list()).some((known) => serves(known, region))
  }

  /** The server that a call is on, even if it was added since the last refresh. Undefined if it was removed. */
  async find(address: string | null): Promise<MediaServer | undefined> {
    if (address === null) return undefined
    const known = this.#known.get(address)
    if (known) return known.server
    await this.#tryLoad()
    return this.#known.get(address)?.server
  }

  /**
   * For a new call of an app in this region: the server with the least load that answers, but not `except`, unless there is no
   * other one.
   */
  async choose(region: string, except?: string | null): Promise<MediaServer | undefined> {
    const open = (await this.list())
      .filter((known) => !known.drained && serves(known, region))
      .map(({ server }) => server)
    const others = open.filter(({ address }) => address !== except)
    return (await this.#leastLoaded(others)) ?? this.#leastLoaded(open)
  }

  /** Doesn't wait long for servers that hang, if another one has answered. */
  async #leastLoaded(servers: readonly MediaServer[]): Promise<MediaServer | undefined> {
    const found: { server: MediaServer; load: number }[] = []
    const answered = Promise.withResolvers<void>()
    const all = servers.map(async (server) => {
      const load = await this.#loadOf(server)
      if (load === Number.POSITIVE_INFINITY) return
      found.push({ server, load })
      answered.resolve()
    })
    const patience = new AbortController()
    const { signal } = patience
    const one = Promise.all([answered.promise, sleep(HANGS_MS, undefined, { signal })])
    await Promise.race([Promise.all(all), one.catch(() => undefined)])
    patience.abort()
    return found.toSorted((a, b) => a.load - b.load)[0]?.server
  }

  /** A server with this address, whether it is known or not. */
  open(address: string): MediaServer {
    const { secret, recordings } = this.#options
    return address === 'werift'
      ? new WeriftServer(recordings)
      : new JanusServer(address, secret, recordings)
  }

  /** Whether a server answered within the last seconds. */
  async answers(server: MediaServer): Promise<boolean> {
    return (await this.#loadOf(server)) < Number.POSITIVE_INFINITY
  }

  /** The same, for people who look at a list: one that hangs is as good as gone. */
  async answersSoon(server: MediaServer): Promise<boolean> {
    const patience = new AbortController()
    const hangs = sleep(HANGS_MS, false, { signal: patience.signal })
    try {
      return await Promise.race([this.answers(server), hangs])
    } finally {
      patience.abort()
    }
  }

  /** It gave no answer, so what it said about its load is old. */
  doubt(server: MediaServer): void {
    this.#loads.delete(server)
  }

  stop(): void {
    for (const { server } of this.#known.values()) server.stop()
  }

  async #loadFirst(): Promise<void> {
    if (!this.#isLoaded) await this.#tryLoad()
  }

  /** While the directory is down, calls use the servers that are known. */
  #tryLoad(): Promise<void> {
    return this.#load().catch((error: Error) =>
      this.#log.warn({ err: error }, 'the list of media servers was not read'),
    )
  }

  async #load(): Promise<void> {
    this.#know(await listMediaServers.many(this.#directory.db, {}))
    this.#isLoaded = true
  }

  /** Servers that were known before stay the same objects. */
  #know(rows: readonly MediaServerRow[]): void {
    const fixed = this.#options.servers
    const decided = new Map(rows.map((row) => [row.address, row]))
    const addresses = new Set([...fixed, ...decided.keys()])
    const know = (address: string): [string, KnownServer] => {
      const server = this.#known.get(address)?.server ?? this.open(address)
      const { drained = false, region = null } = decided.get(address) ?? {}
      return [address, { server, drained, region, fixed: fixed.includes(address) }]
    }
    this.#known = new Map([...addresses].map(know))
  }

  async #loadOf(server: MediaServer): Promise<number> {
    const known = this.#loads.get(server)
    if (known && known.until > performance.now()) return known.load
    const load = server.load().catch((error: Error) => {
      this.#log.warn({ err: error, server: server.address }, 'a media server does not answer')
      return Number.POSITIVE_INFINITY
    })
    // Whoever asks meanwhile waits for the same answer.
    const asked = { load, until: Number.POSITIVE_INFINITY }
    this.#loads.set(server, asked)
    await load
    asked.until = performance.now() + LOAD_MS
    return load
  }
}
