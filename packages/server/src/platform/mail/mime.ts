/**
 * Reads emails (RFC 5322, RFC 2045). Anybody can send them, so work and memory grow with the size of the email alone, and
 * what is deeper or has more parts than people's emails have is left out.
 */

const DEEPEST = 8
const MOST_PARTS = 100
const HEADER_BYTES = 65_536

export interface MimeAttachment {
  name: string
  type: string
  content: Buffer
}

export interface ParsedEmail {
  /** The first header of a name, in lower case; unfolded. */
  header(name: string): string
  text: string
  html: string
  attachments: MimeAttachment[]
}

interface Budget {
  parts: number
}

export function parseEmail(raw: Buffer): ParsedEmail {
  const { headers, body } = split(raw)
  const parsed: ParsedEmail = {
    header: (name) => headers.get(name) ?? '',
    ...{ text: '', html: '', attachments: [] },
  }
  readPart(headers, body, parsed, { parts: MOST_PARTS }, 0)
  return parsed
}

type Headers = Map<string, string>

function split(raw: Buffer): { headers: Headers; body: Buffer } {
  const start = raw.subarray(0, HEADER_BYTES).toString('latin1')
  const found = /\r?\n\r?\n/.exec(start)
  const end = found ? found.index + found[0].length : Math.min(raw.length, HEADER_BYTES)
  const headers: Headers = new Map()
  const lines = start
    .slice(0, end)
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
  for (const line of lines) {
    const at = line.indexOf(':')
    const name = line.slice(0, at).trim().toLowerCase()
    if (at > 0 && !headers.has(name)) headers.set(name, line.slice(at + 1).trim())
  }
  return { headers, body: raw.subarray(end) }
}

function readPart(
  headers: Headers,
  body: Buffer,
  into: ParsedEmail,
  budget: Budget,
  depth: number,
) {
  if (budget.parts-- <= 0 || depth > DEEPEST) return
  const { value: type, parameters } = headerValue(headers.get('content-type') ?? 'text/plain')
  if (type.startsWith('multipart/')) {
    for (const part of partsOf(body, parameters.boundary ?? '')) {
      const inner = split(part)
      readPart(inner.headers, inner.body, into, budget, depth + 1)
    }
    return
  }
  const content = decodedBody(body, (headers.get('content-transfer-encoding') ?? '').toLowerCase())
  const disposition = headerValue(headers.get('content-disposition') ?? '')
  const name = disposition.parameters.filename ?? parameters.name
  const isText = type === 'text/plain' || type === 'text/html'
  if (isText && disposition.value !== 'attachment' && name === undefined) {
    const text = decodedText(content, parameters.charset)
    if (type === 'text/plain') into.text = into.text ? `${into.text}\n${text}` : text
    else into.html += text
    return
  }
  into.attachments.push({ name: safeName(name ?? 'file'), type, content })
}

/** The parts between the lines with the boundary. */
function* partsOf(body: Buffer, boundary: string): Generator<Buffer> {
  if (boundary === '') return
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  let start = -1
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) {
    if (at > 0 && body[at - 1] !== 0x0a) continue
    if (start >= 0) yield withoutBreak(body.subarray(start, at))
    const after = at + mark.length
    if (body[after] === 0x2d && body[after + 1] === 0x2d) return
    const line = body.indexOf(0x0a, after)
    if (line < 0) return
    start = line + 1
  }
  // It was cut off.
  if (start >= 0) yield body.subarray(start)
}

/** The line break before a boundary belongs to it. */
function withoutBreak(part: Buffer): Buffer {
  if (part.at(-1) !== 0x0a) return part
  return part.subarray(0, part.at(-2) === 0x0d ? -2 : -1)
}

function decodedBody(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64')
  if (encoding !== 'quoted-printable') return body
  const text = body
    .toString('latin1')
    .replace(/=\r?\n/g, '')
    .replace(/=([\dA-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}

export function decodedText(content: Buffer, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(content)
  } catch {
    return new TextDecoder('utf-8').decode(content)
  }
}

interface HeaderValue {
  value: string
  parameters: Record<string, string | undefined>
}

/** A value such as `text/plain; charset="utf-8"`. */
function headerValue(header: string): HeaderValue {
  const [value = '', ...rest] = header.slice(0, 500).split(/;(?=(?:[^"]|"[^"]*")*$)/)
  const parameters: Record<string, string> = Object.create(null)
  for (const each of rest) {
    const at = each.indexOf('=')
    const name = each.slice(0, at).trim().toLowerCase()
    const given = each
      .slice(at + 1)
      .trim()
      .replace(/^"|"$/g, '')
    if (name.endsWith('*')) parameters[name.slice(0, -1)] = extended(given)
    else parameters[name] ??= encodedWords(given)
  }
  return { value: value.trim().toLowerCase(), parameters }
}

/** `utf-8''na%C3%AFve.txt` (RFC 2231). */
function extended(text: string): string {
  const [charset, , ...value] = text.split("'")
  const bytes = value
    .join("'")
    .replace(/%([\dA-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodedText(Buffer.from(bytes, 'latin1'), charset || 'utf-8')
}

/** `=?utf-8?B?…?=` (RFC 2047). */
const encodedWords = (text: string) =>
  text.replace(
    /=\?([\w-]{1,40})\?([BbQq])\?([^?\s]{0,500})\?=/g,
    (_, charset: string, form: string, content: string) => {
      const bytes =
        form.toUpperCase() === 'B'
          ? Buffer.from(content, 'base64')
          : decodedBody(Buffer.from(content.replaceAll('_', ' '), 'latin1'), 'quoted-printable')
      return decodedText(bytes, charset)
    },
  )

/** Without folders and control characters. */
function safeName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must go
  const clean = name.replace(/[\u0000-\u001f\u007f]/g, '')
  return (clean.split(/[\\/]/).at(-1) || 'file').slice(0, 200)
}
