import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** RFC 6238 with the parameters that every authenticator app supports: SHA-1, six digits, 30 seconds. */
const STEP_MS = 30_000
const DIGITS = 6
/** The previous and the next code are also valid, because clocks differ and people type slowly. */
const DRIFT = 1

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** 160 random bits in base 32, the format of authenticator apps. */
export const newTotpSecret = () =>
  Array.from(randomBytes(32), (byte) => ALPHABET[byte % 32]).join('')

function bytesOf(secret: string): Buffer {
  const bits = [...secret]
    .map((char) => ALPHABET.indexOf(char).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

export const stepOf = (ms: number) => Math.floor(ms / STEP_MS)

/** The code of one step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = (digest.at(-1) ?? 0) & 15
  const number = digest.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** The current or a neighbouring step with this code, or undefined. */
export function totpStep(secret: string, code: string, now = Date.now()): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const given = Buffer.from(code)
  const near = Array.from({ length: 2 * DRIFT + 1 }, (_, index) => stepOf(now) - DRIFT + index)
  return near.find((step) => timingSafeEqual(Buffer.from(totpCode(secret, step)), given))
}

/** The URL in the QR code for authenticator apps. */
export function totpUrl(secret: string, account: string): string {
  const label = encodeURIComponent(`Loquat:${account}`)
  return `otpauth://totp/${label}?secret=${secret}&issuer=Loquat`
}
