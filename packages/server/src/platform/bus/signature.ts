import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { PurposeKey } from '../secrets/secrets.ts'

/**
 * Messages on the bus carry a MAC, because everyone who can reach NATS can publish. The layout is: the key's id (4
 * bytes), the sender (8 bytes), the stamp (8 bytes), the text, the MAC (16 bytes). The MAC also covers the subject,
 * which names the app or the cell. docs/decisions has the reasons and what it costs.
 */
const SENDER_AT = 4
const STAMP_AT = 12
const TEXT_AT = 20
const MAC_BYTES = 16

/** A message with an older stamp is refused, because its receiver may not remember that it had it. */
const MAX_AGE_MS = 60_000
/** Forget senders that have been silent for that long once there are more than these. */
const SENDERS = 64

/** BLAKE2b with the key in front is a MAC, and takes half the time of HMAC-SHA256. */
const macOf = (keyed: Uint8Array) => hash('blake2b512', keyed, 'hex').slice(0, 2 * MAC_BYTES)

/** Signs the messages of one process. */
export class Signer {
  readonly #key: PurposeKey
  readonly #sender = randomBytes(STAMP_AT - SENDER_AT)
  #last = 0

  constructor(key: PurposeKey) {
    this.#key = key
  }

  sign(subject: string, text: string, now = Date.now()): Uint8Array {
    const { id, key } = this.#key
    const start = key.length + subject.length + 1
    const end = start + TEXT_AT + Buffer.byteLength(text)
    // Key, subject and message side by side, so that nothing is copied.
    const keyed = Buffer.allocUnsafe(end + MAC_BYTES)
    key.copy(keyed)
    keyed.write(subject, key.length, 'latin1')
    keyed[start - 1] = 0
    keyed.writeUInt32BE(id, start)
    this.#sender.copy(keyed, start + SENDER_AT)
    keyed.writeDoubleBE(this.#stamp(now), start + STAMP_AT)
    keyed.write(text, start + TEXT_AT)
    keyed.write(macOf(keyed.subarray(0, end)), end, 'hex')
    keyed.fill(0, 0, key.length)
    return keyed.subarray(start)
  }

  /** The time in microseconds. Each message has a later one than the message before it. */
  #stamp(now: number): number {
    this.#last = Math.max(this.#last + 1, now * 1000)
    return this.#last
  }
}

export type Verdict = { text: string } | { refused: string }

/** The stamp of each sender's last message. NATS keeps their order. */
type Stamps = Map<string, number>

/**
 * What subscriptions that have ended received. A later one to the same subject doesn't accept it again: recorded
 * messages can't be repeated after a reconnecting device made its gateway subscribe again.
 */
export class Received {
  readonly #ended = new Map<string, { stamps: Stamps; until: number }>()

  /** For a new subscription. */
  stampsOf(subject: string): Stamps {
    return new Map(this.#ended.get(subject)?.stamps)
  }

  /** A subscription has ended. */
  keep(subject: string, stamps: Stamps, now = Date.now()): void {
    for (const [old, { until }] of this.#ended) {
      if (until > now) break
      this.#ended.delete(old)
    }
    const known = this.stampsOf(subject)
    for (const [sender, stamp] of stamps) {
      known.set(sender, Math.max(stamp, known.get(sender) ?? 0))
    }
    // At the end, so that the first ones are those to forget first. A stamp may be ahead of our clock.
    this.#ended.delete(subject)
    this.#ended.set(subject, { stamps: known, until: now + 2 * MAX_AGE_MS })
  }
}

/** Checks the messages of one subscription. */
export class Verifier {
  readonly #keys = new Map<number, Buffer>()
  readonly stamps: Stamps

  constructor(keys: readonly PurposeKey[], subject: string, stamps: Stamps = new Map()) {
    this.stamps = stamps
    for (const { id, key } of keys) {
      this.#keys.set(id, Buffer.concat([key, Buffer.from(`${subject}\0`, 'latin1')]))
    }
  }

  open(data: Uint8Array, now = Date.now()): Verdict {
    const message = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const end = message.length - MAC_BYTES
    const prefix = end < TEXT_AT ? undefined : this.#keys.get(message.readUInt32BE(0))
    if (!prefix) return { refused: 'it is signed with an unknown key or not at all' }
    const keyed = Buffer.allocUnsafe(prefix.length + end)
    prefix.copy(keyed)
    message.copy(keyed, prefix.length, 0, end)
    const mac = Buffer.from(macOf(keyed), 'hex')
    keyed.fill(0, 0, prefix.length)
    if (!timingSafeEqual(mac, message.subarray(end))) return { refused: 'its signature is wrong' }

    const stamp = message.readDoubleBE(STAMP_AT)
    if (Math.abs(now - stamp / 1000) > MAX_AGE_MS) {
      return { refused: 'it is more than a minute old, or a clock is wrong' }
    }
    const sender = message.toString('latin1', SENDER_AT, STAMP_AT)
    if (stamp <= (this.stamps.get(sender) ?? 0)) return { refused: 'it was received before' }
    this.stamps.set(sender, stamp)
    if (this.stamps.size > SENDERS) this.#forget(now)
    return { text: message.toString('utf8', TEXT_AT, end) }
  }

  #forget(now: number): void {
    for (const [sender, stamp] of this.stamps) {
      if (now - stamp / 1000 > MAX_AGE_MS) this.stamps.delete(sender)
    }
  }
}
