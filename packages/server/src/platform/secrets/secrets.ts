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
  /** The keys for a purpose: the first to sign with, all of them to check with. */
  keys(purpose: 'bus'): [PurposeKey, ...PurposeKey[]]
}

/** A key that was derived from a secret for one purpose. */
export interface PurposeKey {
  /** Names the secret, not the purpose, and reveals nothing about either. */
  id: number
  key: Buffer
}

export interface OtherSecrets {
  /** Secrets whose values and messages are accepted too, while the secret is being replaced. */
  accepted?: readonly string[]
  /** The secret of the keyed hashes, if it isn't the same. */
  hashing?: string
}

const VERSION = 2
const ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16

function derive(secret: string, purpose: string): BinaryLike & Buffer {
  const master = Buffer.from(secret, 'base64')
  return Buffer.from(hkdfSync('sha256', master, '', `loquat ${purpose}`, 32))
}

const deriveKey = (secret: string, purpose: string): PurposeKey => ({
  id: derive(secret, 'key id').readUInt32BE(),
  key: derive(secret, purpose),
})

/** Derives all keys from one secret: base64 of at least 32 bytes. */
export function openSecrets(
  secret: string,
  { accepted = [], hashing = secret }: OtherSecrets = {},
): Secrets {
  const hashKey = derive(hashing, 'hash')
  const sealKey = deriveKey(secret, 'seal')
  const sealKeys = new Map(
    [secret, ...accepted].map((each) => deriveKey(each, 'seal')).map(({ id, key }) => [id, key]),
  )

  return {
    keys: (purpose) => [
      deriveKey(secret, purpose),
      ...accepted.map((other) => deriveKey(other, purpose)),
    ],
    hash: (value) => createHmac('sha256', hashKey).update(value).digest(),
    seal(value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealKey.key, nonce)
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      const head = Buffer.alloc(1 + ID_BYTES)
      head[0] = VERSION
      head.writeUInt32BE(sealKey.id, 1)
      return Buffer.concat([head, nonce, body, cipher.getAuthTag()])
    },
    open(sealed) {
      if (sealed[0] !== VERSION) throw new Error('unknown format of a sealed value')
      const key = sealKeys.get(sealed.readUInt32BE(1))
      if (!key) throw new Error('sealed with an unknown secret')
      const nonce = sealed.subarray(1 + ID_BYTES, 1 + ID_BYTES + NONCE_BYTES)
      const body = sealed.subarray(1 + ID_BYTES + NONCE_BYTES, -TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
  }
}
