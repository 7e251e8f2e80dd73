import { createECDH } from 'node:crypto'

/** VAPID keys in base64url, as browsers and generators write them: a point of 65 bytes and a number of 32. */

export function newVapidKey(): string {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  // Without its leading zeros, a number may be shorter.
  return Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()])
    .subarray(-32)
    .toString('base64url')
}

/** Undefined if the text is no private key of the curve. */
export function vapidPublicKeyOf(privateKey: string): string | undefined {
  const number = /^[\w-]{43}$/.test(privateKey) ? Buffer.from(privateKey, 'base64url') : undefined
  if (number?.length !== 32) return undefined
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(number)
    return pair.getPublicKey('base64url', 'uncompressed')
  } catch {
    return undefined
  }
}
