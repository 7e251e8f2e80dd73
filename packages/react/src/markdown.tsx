'use client'
import { type ReactNode, useMemo } from 'react'
import { unescaped } from './content.ts'

/** Shows the number of a source, or nothing if there is no such source. */
export type Cite = (number: number) => ReactNode

/** Quotes and lists within each other. What is deeper is shown as text. */
const DEEPEST = 6

const FENCE = /^\s*(`{3,}|~{3,})/
const HEADING = /^#{1,6}\s+(.*)/
const RULE = /^\s*([-*_])(?:\s*\1){2,}\s*$/
const QUOTE = /^\s*>\s?/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+/
const DIVIDER = /^\|?\s*:?-+:?(?:\s*\|\s*:?-+:?)*\s*\|?$/

/**
 * Code, links, bold, italic and struck text, addresses, and numbers of sources. All lengths are limited, because a model may have been told what
 * to write by somebody who wants to slow readers down. Images are shown as links, so that nothing is loaded unasked.
 */
const INLINE =
  /(`{1,3})([^`]{1,2000})\1|!?\[([^\]\n]{1,500})\]\(((?:https?:\/\/|mailto:)[^\s()]{1,2000})(?:\s+"[^"\n]{0,200}")?\)|\*\*(?=\S)([^\n]{1,500}?)\*\*|(?<!\w)__(?=\S)([^\n]{1,500}?)__(?!\w)|~~(?=\S)([^\n]{1,500}?)~~|\*(?=[^\s*])([^*\n]{1,500})\*|(?<!\w)_(?=[^\s_])([^_\n]{1,500})_(?!\w)|(https?:\/\/[^\s<>"'`]{0,2000}[^\s<>"'`.,:;!?)\]}*_])|\[(\d{1,3}(?:, ?\d{1,3}){0,19})\]/g

const link = (key: number, href: string, children: ReactNode) => (
  <a key={key} href={href} target="_blank" rel="noreferrer noopener nofollow">
    {children}
  </a>
)

/** Each number of a list on its own. Numbers without a source stay as they are. */
function citations(key: number, list: string, cite: Cite): ReactNode {
  const numbers = list.split(',').map(Number)
  const marks = numbers.map(cite)
  if (!marks.some(Boolean)) return `[${list}]`
  const shown = marks.map((mark, nth) => mark ?? `[${numbers[nth]}]`)
  return <span key={key}>{shown.map((one, nth) => [nth > 0 && ' ', one])}</span>
}

function inline(text: string, cite: Cite): ReactNode[] {
  const shown: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, name, href = '', bold, bold2, struck, italic, italic2, url, cited] = match
    shown.push(unescaped(text.slice(end, match.index)))
    end = match.index + whole.length
    const key = match.index
    if (code !== undefined) shown.push(<code key={key}>{code}</code>)
    else if (name !== undefined) shown.push(link(key, href, unescaped(name)))
    else if (url !== undefined) shown.push(link(key, url, url))
    else if (cited !== undefined) shown.push(citations(key, cited, cite))
    else if (struck !== undefined) shown.push(<s key={key}>{inline(struck, cite)}</s>)
    else if (bold ?? bold2)
      shown.push(<strong key={key}>{inline(bold ?? bold2 ?? '', cite)}</strong>)
    else shown.push(<em key={key}>{inline(italic ?? italic2 ?? '', cite)}</em>)
  }
  shown.push(unescaped(text.slice(end)))
  return shown
}

const cellsOf = (line: string) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim())

/** Reads blocks from the lines, one after the other. */
class Blocks {
  readonly #lines: string[]
  readonly #depth: number
  readonly #cite: Cite
  #at = 0

  constructor(lines: string[], depth: number, cite: Cite) {
    this.#lines = lines
    this.#depth = depth
    this.#cite = cite
  }

  #inline(text: string): ReactNode[] {
    return inline(text, this.#cite)
  }

  all(): ReactNode[] {
    const shown: ReactNode[] = []
    while (this.#at < this.#lines.length) {
      const key = this.#at
      const block = this.#next(key)
      if (block !== undefined) shown.push(block)
    }
    return shown
  }

  #next(key: number): ReactNode {
    const line = this.#lines[this.#at] ?? ''
    if (line.trim() === '') {
      this.#at++
      return undefined
    }
    if (FENCE.test(line)) return <pre key={key}>{this.#fenced(line)}</pre>
    const heading = HEADING.exec(line)
    if (heading) {
      this.#at++
      return (
        <p key={key} className="lq-heading">
          {this.#inline(heading[1] ?? '')}
        </p>
      )
    }
    if (RULE.test(line)) {
      this.#at++
      return <hr key={key} />
    }
    if (this.#depth < DEEPEST) {
      if (QUOTE.test(line)) return <blockquote key={key}>{this.#quoted()}</blockquote>
      if (ITEM.test(line)) return this.#list(key, line)
    }
    if (line.includes('|') && DIVIDER.test(this.#lines[this.#at + 1]?.trim() ?? ''))
      return this.#table(key)
    return <p key={key}>{this.#inline(this.#paragraph())}</p>
  }

  /** Until the end of the code, or of what is there so far. */
  #fenced(first: string): string {
    const [, fence = ''] = FENCE.exec(first) ?? []
    const start = ++this.#at
    while (this.#at < this.#lines.length && !this.#lines[this.#at]?.trim().startsWith(fence)) {
      this.#at++
    }
    return this.#lines.slice(start, this.#at++).join('\n')
  }

  #quoted(): ReactNode[] {
    const start = this.#at
    while (QUOTE.test(this.#lines[this.#at] ?? '')) this.#at++
    const inner = this.#lines.slice(start, this.#at).map((line) => line.replace(QUOTE, ''))
    return new Blocks(inner, this.#depth + 1, this.#cite).all()
  }

  #list(key: number, first: string): ReactNode {
    const [, indent = '', marker = ''] = ITEM.exec(first) ?? []
    const isOrdered = /\d/.test(marker)
    const items: ReactNode[] = []
    while (this.#at < this.#lines.length) {
      const [whole = '', own = '', sign = ''] = ITEM.exec(this.#lines[this.#at] ?? '') ?? []
      if (whole === '' || own.length > indent.length + 1 || /\d/.test(sign) !== isOrdered) break
      items.push(<li key={this.#at}>{this.#item(whole)}</li>)
    }
    return isOrdered ? (
      <ol key={key} start={Number.parseInt(marker, 10)}>
        {items}
      </ol>
    ) : (
      <ul key={key}>{items}</ul>
    )
  }

  /** The rest of the line, and the lines below it that are indented as its text is. */
  #item(start: string): ReactNode {
    const lines = [this.#lines[this.#at++]?.slice(start.length) ?? '']
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] ?? ''
      const isInside = /^\s{2,}\S/.test(line)
      const isGap = line.trim() === '' && /^\s{2,}\S/.test(this.#lines[this.#at + 1] ?? '')
      if (!isInside && !isGap) break
      lines.push(line.replace(/^\s{1,4}/, ''))
      this.#at++
    }
    // The blank lines between items.
    while (this.#lines[this.#at]?.trim() === '' && ITEM.test(this.#lines[this.#at + 1] ?? '')) {
      this.#at++
    }
    if (lines.length === 1) return this.#inline(lines[0] ?? '')
    return new Blocks(lines, this.#depth + 1, this.#cite).all()
  }

  #table(key: number): ReactNode {
    const head = cellsOf(this.#lines[this.#at] ?? '')
    this.#at += 2
    const rows: string[][] = []
    while (this.#lines[this.#at]?.includes('|')) rows.push(cellsOf(this.#lines[this.#at++] ?? ''))
    const cell = (text: string, nth: number) => <td key={nth.toString()}>{this.#inline(text)}</td>
    return (
      <div key={key} className="lq-table">
        <table>
          <thead>
            <tr>
              {head.map((text, nth) => (
                <th key={nth.toString()}>{this.#inline(text)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, nth) => (
              <tr key={nth.toString()}>{head.map((_, at) => cell(row[at] ?? '', at))}</tr>
            ))}
          </tbody>
        </table>
      </div>
    )
  }

  #paragraph(): string {
    const start = this.#at++
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] ?? ''
      const begins = [FENCE, HEADING, QUOTE, ITEM, RULE].some((block) => block.test(line))
      if (line.trim() === '' || begins) break
      this.#at++
    }
    return this.#lines.slice(start, this.#at).join('\n')
  }
}

/** Markdown as elements. HTML in it is text. `cite` must be the same as long as the sources are. */
export function Markdown({ text, cite }: { text: string; cite: Cite }) {
  return useMemo(() => new Blocks(text.split('\n'), 0, cite).all(), [text, cite])
}
