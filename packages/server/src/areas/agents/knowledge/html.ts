import { Parser } from 'htmlparser2'
import { lookupTable } from '../../../platform/lookup-table.ts'

/** What a page says, as Markdown that chunks are cut from. */
export interface HtmlText {
  title: string
  text: string
  description: string
  /** What its links say, and what they are relative to. */
  hrefs: string[]
  base: string | undefined
  /** What it asks of crawlers, in lower case, such as `noindex, nofollow`. */
  robots: string
}

/** Their content isn't what the page says. */
const SKIPPED = new Set([
  ...['script', 'style', 'noscript', 'template', 'svg', 'math', 'iframe', 'object', 'head'],
  ...['nav', 'footer', 'aside', 'select', 'button', 'textarea'],
])
const BLOCKS = new Set([
  ...['p', 'div', 'section', 'article', 'main', 'header', 'ul', 'ol', 'dl', 'dt', 'dd', 'table'],
  ...['blockquote', 'pre', 'figure', 'figcaption', 'form', 'fieldset', 'address', 'details', 'hr'],
])
const MARKS = lookupTable({ li: '\n- ', tr: '\n', br: '\n', td: ' ', th: ' ' })
const TITLE_LENGTH = 500
/** No page needs more links. */
const LINKS = 5_000

/** No page needs more. Each open element costs the parser time with every tag. */
const DEPTH = 2_000

export class TooDeep extends Error {}

/** Reads HTML of any quality. Throws `TooDeep`. */
export function readHtml(html: string): HtmlText {
  const parts: string[] = []
  const head = new Head()
  let [title, skipped, inTitle, depth] = ['', 0, false, 0]
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > DEPTH) throw new TooDeep()
        head.add(name, attributes)
        if (name === 'title') inTitle = true
        if (SKIPPED.has(name)) skipped++
        if (skipped > 0) return
        const level = /^h([1-6])$/.exec(name)?.[1]
        if (level) parts.push(`\n\n${'#'.repeat(Number(level))} `)
        else parts.push(BLOCKS.has(name) ? '\n\n' : (MARKS[name] ?? ''))
      },
      ontext(text) {
        if (inTitle && title.length < TITLE_LENGTH) title += text
        else if (skipped === 0) parts.push(text.replace(/\s+/g, ' '))
      },
      onclosetag(name) {
        depth--
        if (name === 'title') inTitle = false
        if (SKIPPED.has(name)) skipped = Math.max(skipped - 1, 0)
        if (skipped === 0 && (BLOCKS.has(name) || /^h[1-6]$/.test(name))) parts.push('\n\n')
      },
    },
    { decodeEntities: true },
  )
  parser.end(html)
  const text = parts.join('').replaceAll('\0', '').toWellFormed()
  const { hrefs, base, robots } = head
  return {
    ...{ title: line(title), description: line(head.description), hrefs, base, robots },
    // Line by line: a pattern for spaces around line breaks would try each of a million spaces in turn.
    text: text
      .split('\n')
      .map((one) => one.trim())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
  }
}

const line = (text: string) =>
  text.replaceAll('\0', '').replace(/\s+/g, ' ').trim().slice(0, TITLE_LENGTH).toWellFormed()

/** What crawlers look for. Links of menus count, although their text doesn't. */
class Head {
  readonly hrefs: string[] = []
  base: string | undefined
  description = ''
  robots = ''

  add(name: string, { href, rel = '', name: meta = '', content = '' }: Record<string, string>) {
    const follows = !/\bnofollow\b/i.test(rel) && this.hrefs.length < LINKS
    if (name === 'a' && href !== undefined && follows) this.hrefs.push(href)
    if (name === 'base' && href !== undefined) this.base ??= href
    if (name !== 'meta') return
    if (/^description$/i.test(meta)) this.description ||= content
    if (/^(robots|loquat)$/i.test(meta)) this.robots += ` ${content.toLowerCase()}`
  }
}
