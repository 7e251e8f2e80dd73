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
  /** Encrypts a value for one place. Each call returns different bytes. */
  seal(place: Place, value: string): Buffer
  /** Decrypts a sealed value. Throws if it was changed, or sealed for another place or with another secret. */
  open(place: Place, sealed: Buffer): string
  /** How a value begins that was sealed with the current secret. */
  readonly head: Buffer
  /** The keys for a purpose: the first to sign with, all of them to check with. */
  keys(purpose: 'bus' | 'files' | 'mail'): [PurposeKey, ...PurposeKey[]]
}

/**
 * Where a sealed value is stored: table and column, then the row. Each column has a key of its own, and the row is
 * authenticated with the value, so a value that was copied to another place doesn't open. The row is named by what
 * stays when its app moves to another cell and when secrets are replaced, so not by keyed hashes.
 */
export type Place = { [Column in keyof Places]: [Column, ...row: Places[Column]] }[keyof Places]

/** The columns with sealed values, and what names their rows. Areas add their own. */
export interface Places {
  'api_keys.key': [appNo: number]
  'auth_tokens.token': [appNo: number, uid: string]
  'cells.url': [cellId: string]
  cursor: [list: string]
  'idempotency.answer': [appNo: number, uid: string, key: string]
  'operator idempotency.answer': [operatorNo: number, key: string]
  'operators.totp': [operatorNo: number]
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
  const head = Buffer.alloc(1 + ID_BYTES)
  head[0] = VERSION
  head.writeUInt32BE(deriveKey(secret, '').id, 1)
  const derived = new Map<string, [PurposeKey, ...PurposeKey[]]>()

  const keysFor = (purpose: string): [PurposeKey, ...PurposeKey[]] => [
    deriveKey(secret, purpose),
    ...accepted.map((other) => deriveKey(other, purpose)),
  ]

  /** Derived once for each column. */
  function sealKeys([column]: Place): [PurposeKey, ...PurposeKey[]] {
    const keys = derived.get(column) ?? keysFor(`seal ${column}`)
    derived.set(column, keys)
    return keys
  }

  return {
    head,
    keys: keysFor,
    hash: (value) => createHmac('sha256', hashKey).update(value).digest(),
    seal(place, value) {
      const [{ key }] = sealKeys(place)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(Buffer.from(JSON.stringify(place)))
      const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return Buffer.concat([head, nonce, body, cipher.getAuthTag()])
    },
    open(place, sealed) {
      if (sealed[0] !== VERSION) throw new Error('unknown format of a sealed value')
      const id = sealed.readUInt32BE(1)
      const key = sealKeys(place).find((each) => each.id === id)?.key
      if (!key) throw new Error('sealed with an unknown secret')
      const nonce = sealed.subarray(1 + ID_BYTES, 1 + ID_BYTES + NONCE_BYTES)
      const body = sealed.subarray(1 + ID_BYTES + NONCE_BYTES, -TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
      decipher.setAAD(Buffer.from(JSON.stringify(place)))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
  }
}
