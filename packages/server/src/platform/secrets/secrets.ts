import {
  type BinaryLike,
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto'

/** Hashing and encryption of values that must not be readable in a stolen database. */
export interface Secrets {
  /** A keyed hash, to look up a value. */
  hash(value: string): Buffer
  /** Encrypts a value. Each call returns different bytes. */
  seal(value: string): Buffer
  /** Decrypts a sealed value. Throws if it was changed or sealed with another secret. */
  open(sealed: Buffer): string
}

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Derives both keys from one secret: base64 of at least 32 bytes. */
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
      // The first byte is the format, so that keys can be rotated later.
      return Buffer.concat([Buffer.of(VERSION), nonce, body, cipher.getAuthTag()])
    },
    open(sealed) {
      if (sealed[0] !== VERSION) throw new Error('unknown format of a sealed value')
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
      const body = sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', sealKey, nonce)
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
  }
}
