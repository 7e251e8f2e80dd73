/** Replaces what differs from run to run: keys, tokens, times, durations. Everything else must be the same in each run. */
import { createHash } from 'node:crypto'
import { firstIdOf } from '../../src/core/ids.ts'

/** Monday, 2 March 2026, 09:00 UTC. */
const START = 1_772_442_000
const DAY = 86_400

/** The ids of messages, reactions, deliveries and audit entries carry their time. */
const isTimed = (value: unknown): value is string =>
  typeof value === 'string' && /^[2-8]\d{15}$/.test(value)

/** Those of calls contain one. */
const SESSION_ID = /^v1\.[a-z]+\.[a-z0-9]+\.([2-8]\d{15})$/

/** Strings under these names are secrets or random ids. */
const SECRETS = ['apiKey', 'authToken', 'secret', 'key', 'invitation', 'recoveryCodes', 'next']

/** Seconds after the time of the record itself. */
const LATER: Record<string, number> = {
  deliveredAt: 2,
  readAt: 30,
  editedAt: 90,
  deletedAt: 120,
  pinnedAt: 150,
  savedAt: 180,
  takenAt: 24,
  answeredAt: 84,
  closedAt: 600,
  oldSecretUntil: DAY,
  until: 300,
  expiresAt: 7 * DAY,
  scheduledToDeleteAt: 30 * DAY,
}

const isTime = (name: string, value: unknown) =>
  typeof value === 'number' &&
  value > 1_600_000_000 &&
  /(At|Until|^at|^until|^startTime|^endTime)$/.test(name)

const isIsoTime = (name: string, value: unknown) =>
  typeof value === 'string' && /(At|^transcriptDate)$/.test(name)

/** Private keys, and what answers show of them. */
const KEYS = ['private_key', 'p8Key']
const SHOWN_KEY = '****h4Kz'
const PUBLIC_KEY = `B${createHash('sha512').update('example').digest('base64url')}`
/** Descriptions of WebRTC connections are long, and random. */
const SDP = 'v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\n…'
const KEY = '-----BEGIN PRIVATE KEY-----\nMIG…\n-----END PRIVATE KEY-----\n'

/** UUIDs, and ids of files. */
const isRandom = (value: unknown) =>
  typeof value === 'string' && /^([0-9a-f-]{36}|[0-9a-f]{32})$/.test(value)

/** The end of a signed URL of a file. How many different ones there are depends on the time, so all become one. */
const SIGNED = /expires=\d{10}&signature=[\w-]{43}/g
const SIGNATURE = createHash('sha256').update('example').digest('base64url')
const LINK_SECONDS = 300
/** The key of an export's part in the file store ends in random digits. */
const STORED_PART = /(export-\d+%2F\d+|export-\d+\/\d+)-[0-9a-f]{16}/g

export class Masks {
  readonly #standIns = new Map<string, string>()
  /** Ids that carry time, each with its number. */
  readonly #numbers = new Map<string, number>()

  /** Replaces a value wherever it occurs, in requests and answers. */
  add(real: string, standIn: string): void {
    if (!this.#standIns.has(real)) this.#standIns.set(real, standIn)
  }

  mask<T>(value: T): T {
    this.#find('', value)
    this.#number(value)
    const text = JSON.stringify(this.#timed('', value, 0))
      .replaceAll(SIGNED, `expires=${START + LINK_SECONDS}&signature=${SIGNATURE}`)
      .replaceAll(STORED_PART, '$1-9c41f07be2d85a36')
    return JSON.parse(
      // Short values could be part of others.
      [...this.#standIns].reduce(
        (masked, [real, standIn]) =>
          real.length < 12
            ? masked.replaceAll(JSON.stringify(real), JSON.stringify(standIn))
            : masked.replaceAll(real, standIn),
        text,
      ),
    )
  }

  #find(name: string, value: unknown): void {
    if (typeof value === 'string') {
      // The only place of its file's id.
      if (name === 'presignedUrl') this.#find('', /[0-9a-f]{32}/.exec(value)?.[0])
      // The length of a cursor differs too.
      const like = name === 'next' ? 'x'.repeat(40) : value
      // The key of a parameter is its name, and no secret.
      const isName = name === 'key' && value.length < 10
      const isSecret = SECRETS.includes(name) && !isName
      if (isSecret || isRandom(value)) this.add(value, this.#invent(like))
    } else if (Array.isArray(value)) {
      for (const item of value) this.#find(name, item)
    } else if (typeof value === 'object' && value !== null) {
      // The id of an app is random too.
      if ('baseUrl' in value && 'id' in value) this.#find('key', value.id)
      // So is the number of an account.
      if ('email' in value && 'id' in value) this.add(String(value.id), this.#inventNumber())
      for (const [key, item] of Object.entries(value)) this.#find(key, item)
    }
  }

  /** Messages and reactions are a minute apart, and their ids say so. */
  #number(value: unknown): void {
    for (const id of timedIds(value).sort()) {
      if (this.#numbers.has(id)) continue
      const nth = this.#numbers.size + 1
      this.#numbers.set(id, nth)
      const fraction = ((nth * 390_917) % 1_000_000) * 4
      this.add(id, String(firstIdOf(START + nth * 60) + fraction))
    }
  }

  #numberOf({ id, uid, guid }: Record<string, unknown>): number | undefined {
    // Users and groups are as old as the app, wherever they are shown.
    if (uid !== undefined || guid !== undefined) return 0
    return this.#numbers.get(String(id))
  }

  /** A value of the same length in the same alphabet. What comes before the random part stays, except for the time. */
  #invent(real: string): string {
    const [, head = '', time = '', rest = ''] =
      /^(whsec_|[a-z0-9_-]+_(?=1\d{9}[0-9a-f]{40}$))?((?<=_)1\d{9})?(.*)$/s.exec(real) ?? []
    const seed = createHash('sha512').update(`example ${this.#standIns.size}`)
    const random = seed.digest('hex').repeat(4)
    const base64 = Buffer.from(random).toString('base64url')
    const invented = /^[0-9a-f-]+$/.test(rest)
      ? rest.replaceAll(/[0-9a-f]/g, (_, at: number) => random[at] ?? '')
      : rest.replaceAll(/[A-Za-z0-9_+/-]/g, (letter, at: number) =>
          /^[A-Z2-7]+$/.test(rest) ? base32(random, at) : (base64[at] ?? letter),
        )
    return head + (time && String(START)) + invented
  }

  #inventNumber(): string {
    return String(482_915_034_716_285 + this.#standIns.size * 61_803_398_874)
  }

  /** Records with a number are a minute apart, in its order. */
  #timed(name: string, value: unknown, parent: number): unknown {
    if (isTime(name, value)) {
      const unit = Number(value) > 1_000_000_000_000 ? 1000 : 1
      return (START + parent * 60 + (LATER[name] ?? 0)) * unit
    }
    if (name === 'durationMs') return 84
    if (name === 'secondsToTake') return LATER.takenAt
    if (name === 'secondsToAnswer') return LATER.answeredAt
    if (/^total(Audio|Video)Minutes$|^totalDuration/.test(name))
      return typeof value === 'number' ? 0 : '00:00:00'
    if (isIsoTime(name, value)) return new Date(START * 1000).toISOString()
    if (KEYS.includes(name)) return String(value).startsWith('****') ? SHOWN_KEY : KEY
    if (name === 'privateKey') return SHOWN_KEY
    if (name === 'publicKey') return PUBLIC_KEY
    if (name === 'sdp') return SDP
    if (Array.isArray(value)) return value.map((item) => this.#timed(name, item, parent))
    if (typeof value !== 'object' || value === null) return value
    const own = this.#numberOf(value as Record<string, unknown>) ?? parent
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#timed(key, item, own)]),
    )
  }
}

const base32 = (random: string, at: number) =>
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(random[at] ?? '0', 16) * 2] ?? 'A'

function timedIds(value: unknown): string[] {
  if (isTimed(value)) return [value]
  if (typeof value === 'string') return SESSION_ID.exec(value)?.slice(1) ?? []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(timedIds) : []
}
