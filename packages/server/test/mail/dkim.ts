/** Verifies DKIM signatures as receivers of mail do (RFC 6376), for `relaxed/relaxed` and RSA. */
import { createHash, createVerify, type KeyObject } from 'node:crypto'

const relaxedLine = (line: string) => line.replace(/[ \t]+/g, ' ').replace(/ $/, '')

function relaxedHeader(line: string): string {
  const at = line.indexOf(':')
  const value = line.slice(at + 1).replace(/\r\n(?=[ \t])/g, '')
  return `${line.slice(0, at).trim().toLowerCase()}:${relaxedLine(value.replace(/[ \t]+/g, ' ')).trim()}`
}

function relaxedBody(body: string): string {
  const text = body
    .split('\r\n')
    .map(relaxedLine)
    .join('\r\n')
    .replace(/(\r\n)*$/, '')
  return text === '' ? '' : `${text}\r\n`
}

/** The tags of the signature if it is right. */
export function verifiedDkim(raw: string, key: KeyObject): Record<string, string> | undefined {
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw.slice(0, end).split(/\r\n(?![ \t])/)
  const signature = lines.find((line) => /^dkim-signature:/i.test(line)) ?? ''
  const tags = Object.fromEntries(
    signature
      .slice(signature.indexOf(':') + 1)
      .replace(/\r\n[ \t]+/g, '')
      .split(';')
      .map((tag) => {
        const [name = '', ...value] = tag.split('=')
        return [name.trim(), value.join('=').replace(/\s+/g, '')]
      }),
  )
  const body = createHash('sha256')
    .update(relaxedBody(raw.slice(end + 4)))
    .digest('base64')
  if (tags.bh !== body || tags.c !== 'relaxed/relaxed') return undefined
  const rest = [...lines]
  const signed = (tags.h ?? '').split(':').map((name) => {
    const at = rest.findLastIndex((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    return at < 0 ? '' : `${relaxedHeader(rest.splice(at, 1)[0] ?? '')}\r\n`
  })
  const unsigned = relaxedHeader(signature.replace(/(\bb=)[^;]*/, '$1'))
  const verify = createVerify('RSA-SHA256').update(`${signed.join('')}${unsigned}`)
  return verify.verify(key, tags.b ?? '', 'base64') ? tags : undefined
}
