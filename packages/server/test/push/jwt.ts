import { type KeyObject, verify } from 'node:crypto'

export interface Jwt {
  // biome-ignore lint/suspicious/noExplicitAny: the servers check each claim
  header: any
  // biome-ignore lint/suspicious/noExplicitAny: the servers check each claim
  claims: any
}

/** The parts of a JSON web token; undefined if this key didn't sign it. */
export function verifiedJwt(token: string, key: KeyObject): Jwt | undefined {
  const [head = '', body = '', signature = ''] = token.split('.')
  const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const signed = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  return signed ? { header: json(head), claims: json(body) } : undefined
}
