import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

/** The keys of a browser's subscription. */
export interface SubscriptionKeys {
  /** The browser's public key: an uncompressed point on P-256. */
  p256dh: Buffer
  /** The authentication secret, 16 bytes. */
  auth: Buffer
}

const RECORD_BYTES = 4_096
const SALT_BYTES = 16
const POINT_BYTES = 65
const HEAD_BYTES = SALT_BYTES + 4 + 1 + POINT_BYTES
const TAG_BYTES = 16
/** Says that this is the last record. */
const DELIMITER = Buffer.from([2])

/** Push services accept bodies of 4,096 bytes, which leaves this for the text (RFC 8291, section 4). */
export const PLAINTEXT_BYTES = RECORD_BYTES - HEAD_BYTES - TAG_BYTES - DELIMITER.length

const derived = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))

/** Encrypts a text for a browser: `aes128gcm` of RFC 8188 with the keys of RFC 8291. Throws if `p256dh` is no point. */
export function encrypted(text: string, { p256dh, auth }: SubscriptionKeys): Buffer {
  // A new key for each text, as the RFC demands.
  const own = createECDH('prime256v1')
  const point = own.generateKeys()
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, point])
  const secret = derived(own.computeSecret(p256dh), auth, info, 32)
  const salt = randomBytes(SALT_BYTES)
  const key = derived(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derived(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(RECORD_BYTES)
  head.writeUInt8(POINT_BYTES, 4)
  const sealed = [cipher.update(text), cipher.update(DELIMITER), cipher.final()]
  return Buffer.concat([salt, head, point, ...sealed, cipher.getAuthTag()])
}
