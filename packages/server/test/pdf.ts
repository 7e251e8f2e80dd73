/** Small PDF files, made by hand. */
import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

type Body = string | Buffer

/** Puts objects together, with their offsets. The first one is the catalog. */
function assemble(objects: Body[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let at = 9
  const add = (part: Buffer) => {
    parts.push(part)
    at += part.length
  }
  for (const [nth, body] of objects.entries()) {
    offsets.push(at)
    add(Buffer.from(`${nth + 1} 0 obj\n`))
    add(typeof body === 'string' ? Buffer.from(body, 'latin1') : body)
    add(Buffer.from('\nendobj\n'))
  }
  const start = at
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  const count = objects.length + 1
  add(Buffer.from(`xref\n0 ${count}\n0000000000 65535 f \n${rows.join('')}`))
  add(Buffer.from(`trailer\n<</Size ${count}/Root 1 0 R${trailer}>>\nstartxref\n${start}\n%%EOF\n`))
  return Buffer.concat(parts)
}

const stream = (dictionary: string, data: Buffer) =>
  Buffer.concat([
    Buffer.from(`<<${dictionary}/Length ${data.length}>>\nstream\n`),
    data,
    Buffer.from('\nendstream'),
  ])

/** One page for each text. */
export function pdf(pages: string[]): Buffer {
  const kids = pages.map((_, nth) => `${4 + nth * 2} 0 R`)
  return assemble([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages.length}/Kids[${kids.join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...pages.flatMap((text, nth) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents ${5 + nth * 2} 0 R>>`,
      stream('', Buffer.from(`BT /F 12 Tf 40 700 Td (${text}) Tj ET`)),
    ]),
  ])
}

/** A page whose content has this many bytes, but few in the file. */
export function bombPdf(megabytes: number): Buffer {
  const data = deflateSync(Buffer.alloc(megabytes * 1_000_000, ' '), { level: 1 })
  return assemble([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[4 0 R]>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents 5 0 R>>',
    stream('/Filter/FlateDecode', data),
  ])
}

/** Needs a password that nobody knows: 40 bits of RC4, as in the first version of the standard. */
export function encryptedPdf(): Buffer {
  const user = createHash('sha256').update('somebody else').digest()
  const owner = createHash('sha256').update('owner').digest('hex')
  const encrypt = `<</Filter/Standard/V 1/R 2/P -44/O<${owner}>/U<${user.toString('hex')}>>>`
  return assemble(
    ['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Count 0/Kids[]>>', encrypt],
    '/Encrypt 3 0 R/ID[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]',
  )
}
