import { open } from 'node:fs/promises'
import { fileTypeFromFile } from 'file-type'
import { essence } from './types.ts'

const UNKNOWN = 'application/octet-stream'
/** As much of a text is looked at as decides what a browser would take it for. */
const HEAD_BYTES = 16 * 1024

/** Names of file-type that browsers don't know, or that say more than the bytes we serve. */
const RENAMED: Record<string, string> = {
  // The first picture is kept (image.ts).
  'image/apng': 'image/png',
  'image/heic-sequence': 'image/heic',
  'image/heif-sequence': 'image/heif',
  'audio/x-m4a': 'audio/mp4',
  'video/x-m4v': 'video/mp4',
  'audio/vnd.wave': 'audio/wav',
}

/** The type of a file by its bytes alone. Its name and its declared type have no say. */
export async function sniff(path: string): Promise<string> {
  const head = await readHead(path)
  const text = toText(head)
  if (text !== undefined) return typeOfText(text)
  // A broken archive makes the library throw.
  const known = await fileTypeFromFile(path).catch(() => undefined)
  const type = known ? essence(known.mime) : UNKNOWN
  return RENAMED[type] ?? type
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES) })
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: text has none but tabs, line ends and escapes.
const BINARY = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

/** Undefined if these bytes aren't text. UTF-16 needs its mark: any bytes could be UTF-16. */
function toText(head: Buffer): string | undefined {
  const encoding =
    head[0] === 0xff && head[1] === 0xfe
      ? 'utf-16le'
      : head[0] === 0xfe && head[1] === 0xff
        ? 'utf-16be'
        : 'utf-8'
  try {
    // The last character may be cut off.
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, {
      stream: head.length === HEAD_BYTES,
    })
    return BINARY.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** The elements by which browsers recognize HTML (MIME Sniffing Standard, section 7.1). */
const HTML =
  /^<(!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|img|template|object|embed|form)[\s>/]/i
/** What may stand before the first element: declarations, comments and document types. */
const PROLOG =
  /^(\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!doctype\s(?!html)[^>[]*(\[[\s\S]*?\])?[^>]*>)/i

function typeOfText(text: string): string {
  let rest = text
  for (let skipped = PROLOG.exec(rest); skipped; skipped = PROLOG.exec(rest)) {
    rest = rest.slice(skipped[0].length)
  }
  const isXml = /^\s*<\?xml\s/.test(text)
  if (/^<([\w-]+:)?svg[\s>/]/i.test(rest)) return 'image/svg+xml'
  if (HTML.test(rest)) return isXml ? 'application/xhtml+xml' : 'text/html'
  if (isXml) return 'application/xml'
  if (text.startsWith('%PDF-')) return 'application/pdf'
  if (text.startsWith('{\\rtf')) return 'application/rtf'
  return 'text/plain'
}
