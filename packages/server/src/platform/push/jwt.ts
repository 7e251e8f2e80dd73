import { createPrivateKey, type KeyObject, sign } from 'node:crypto'

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A signed JSON web token: ES256 with a P-256 key, RS256 with an RSA key. */
export function signedJwt(key: KeyObject, claims: object, header: object = {}): string {
  const alg = key.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256'
  const text = `${encoded({ alg, typ: 'JWT', ...header })}.${encoded(claims)}`
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

/** The private key in a PEM text; undefined if it is none of this kind. */
export function privateKeyOf(pem: string, kind: 'P-256' | 'RSA'): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem)
    const { namedCurve } = key.asymmetricKeyDetails ?? {}
    return (kind === 'RSA' ? key.asymmetricKeyType === 'rsa' : namedCurve === 'prime256v1')
      ? key
      : undefined
  } catch {
    return undefined
  }
}
