import {
  type BinaryLike,
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto'

/** The two things we do with values that must not be read from a stolen database. */
export interface Secrets {
  /** Keyed hash, to look a value up by. */
  hash(value: string): Buffer
  /** Encrypts for later display; each call gives other bytes. */
  seal(value: string): Buffer
  /** Reverses `seal`; throws when the bytes were changed or sealed with another secret. */
  open(sealed: Buffer): string
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Both keys derive from one secret of at least 32 bytes, base64. */
export function openSecrets(secret: string): Secrets {
  const master = Buffer.from(secret, 'base64')
  const derive = (purpose: string): BinaryLike & Buffer =>
    Buffer.from(hkdfSync('sha256', master, '', `loquat ${purpose}`, 32))
  const hashKey = derive('hash')
  const sealKey = derive('seal')

  return {
    hash: (value) => createHmac('sha256', hashKey).update(value).digest(),
    seal(value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce)
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      // The first byte names the format, so that keys can be rotated later.
      return Buffer.concat([Buffer.of(VERSION), nonce, body, cipher.getAuthTag()])
    },
    open(sealed) {
      if (sealed[0] !== VERSION) throw new Error('sealed value of an unknown format')
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      const body = sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', sealKey, nonce)
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
  }
}
