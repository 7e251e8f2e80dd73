/** How texts are cut into the chunks that searches find, and which words of them are searched. */
import { createHash } from 'node:crypto'

/** A piece of a source, with the headings above it. */
export interface Chunk {
  heading: string
  text: string
}

/** The most UTF-16 code units of a chunk. A section that fits stays whole. */
const LENGTH = 1_000
/** What is left after a cut should not be a crumb. */
const LEAST = 200
const HEADING_LENGTH = 300
const HEADING = /^(#{1,6})[ \t]+(\S.*)$/
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/**
 * Cuts a text, plain or Markdown, at its headings and paragraphs. Two equal chunks are one. Stops after `most` chunks, if
 * given.
 */
export function chunksOf(text: string, most = Number.POSITIVE_INFINITY): Chunk[] {
  const chunks = new Map<string, Chunk>()
  for (const { path, lines } of sectionsOf(text)) {
    const heading = path.filter(Boolean).join(' › ').slice(0, HEADING_LENGTH).toWellFormed()
    for (const piece of packed(lines.join('\n'))) {
      const chunk = { heading, text: piece }
      chunks.set(`${heading}\n${piece}`, chunk)
      if (chunks.size >= most) return [...chunks.values()]
    }
  }
  return [...chunks.values()]
}

interface Section {
  /** The headings above it, by their level. */
  path: string[]
  lines: string[]
}

/** Lines that begin with `#` within code are no headings. */
function* sectionsOf(text: string): Generator<Section> {
  let section: Section = { path: [], lines: [] }
  let fence = ''
  for (const line of text.replace(/\r\n?/g, '\n').split('\n')) {
    const mark = FENCE.exec(line)?.[1]
    if (mark && fence === '') fence = mark
    else if (mark && fence !== '' && mark.startsWith(fence)) fence = ''
    const [, level, title] = (fence === '' && line.length < 1_000 && HEADING.exec(line)) || []
    if (level === undefined || title === undefined) {
      section.lines.push(line)
      continue
    }
    const above = Array.from({ length: level.length - 1 }, (_, nth) => section.path[nth] ?? '')
    yield section
    section = { path: [...above, withoutMarks(title)], lines: [] }
  }
  yield section
}

/** A heading may end with `#`. A loop, because a pattern for this takes seconds for a line of spaces. */
function withoutMarks(title: string): string {
  const trimmed = title.trimEnd()
  let end = trimmed.length
  while (trimmed[end - 1] === '#') end--
  return trimmed.slice(0, end).trimEnd()
}

/** As many paragraphs as fit make a chunk. */
function packed(text: string): string[] {
  const pieces: string[] = []
  let open = ''
  for (const paragraph of text.split(/\n[ \t]*\n/)) {
    for (const part of cut(paragraph.trim())) {
      if (open !== '' && open.length + part.length + 2 > LENGTH) {
        pieces.push(open)
        open = ''
      }
      open = open === '' ? part : `${open}\n\n${part}`
    }
  }
  if (open !== '') pieces.push(open)
  return pieces
}

/** A paragraph that is too long is cut after a line, a sentence or a word, or anywhere. */
function cut(paragraph: string): string[] {
  const parts: string[] = []
  let from = 0
  while (paragraph.length - from > LENGTH) {
    const window = paragraph.slice(from, from + LENGTH)
    const ends = ['\n', '. ', '。', ' '].map(
      (end) => window.lastIndexOf(end) + end.trimEnd().length,
    )
    const last = window.charCodeAt(LENGTH - 1)
    // Not in the middle of a character.
    const anywhere = last >= 0xd800 && last <= 0xdbff ? LENGTH - 1 : LENGTH
    const at = ends.find((end) => end >= LEAST) ?? anywhere
    parts.push(window.slice(0, at).trim())
    from += at
  }
  parts.push(paragraph.slice(from).trim())
  return parts.filter(Boolean)
}

/** The same for the same chunk of a source or page, so citations outlive a new index. */
export const chunkIdOf = (ownerId: string, { heading, text }: Chunk): string =>
  hashedId(ownerId, heading, text)

/** An id that follows from these texts. */
export function hashedId(...parts: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-${hash.slice(12, 16)}-${hash.slice(16, 20)}-${hash.slice(20, 32)}`
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu

/**
 * The words of a text, separated by spaces, in lower case and without accents. Scripts without spaces between words
 * become pairs of characters.
 */
export function wordsOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC')
    .replace(UNSPACED, (run) => ` ${pairs(Array.from(run)).join(' ')} `)
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .toLowerCase()
}

const pairs = (characters: string[]) =>
  characters.length === 1
    ? characters
    : characters.slice(1).map((second, nth) => `${characters[nth]}${second}`)
