/** HTML and Markdown of the reference. All texts come from our own code, and are escaped all the same. */

export const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** Where the name of an operation leads. */
export type LinkTo = (operationId: string) => string | undefined

/** Code spans, bold text and links. A code span that names an operation becomes a link to it. */
export function inline(text: string, linkTo: LinkTo = () => undefined): string {
  return escaped(text)
    .replaceAll(/`([^`]+)`/g, (_, code: string) => {
      const href = linkTo(code)
      return href ? `<a href="${href}"><code>${code}</code></a>` : `<code>${code}</code>`
    })
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
}

/** The Markdown that our descriptions use: headings, paragraphs, tables and code. */
export function markdown(text: string, linkTo?: LinkTo): string {
  const blocks = text.matchAll(/```(\w*)\n([\s\S]*?)\n```|(?:(?!```).+\n?)+/g)
  return [...blocks]
    .map(([block, language, code]) => {
      if (code !== undefined) return codeBlock(language === 'json' ? json(code) : escaped(code))
      const trimmed = block.trim()
      const [, heading] = /^## (.+)$/.exec(trimmed) ?? []
      if (heading) return `<h2 id="${idOf(heading)}">${inline(heading)}</h2>`
      if (trimmed.startsWith('|')) return table(trimmed, linkTo)
      return `<p>${inline(trimmed.replaceAll('\n', ' '), linkTo)}</p>`
    })
    .join('\n')
}

export const idOf = (title: string) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

function table(text: string, linkTo?: LinkTo): string {
  const [head = [], , ...rows] = text.split('\n').map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  )
  const cells = (tag: string, row: string[]) =>
    row.map((cell) => `<${tag}>${inline(cell, linkTo)}</${tag}>`).join('')
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')
  return `<div class="table" tabindex="0"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>${body}</tbody></table></div>`
}

export const codeBlock = (html: string) =>
  `<div class="code"><button type="button" class="copy">Copy</button><pre tabindex="0"><code>${html}</code></pre></div>`

/** JSON with its names and values marked. */
export const json = (text: string) =>
  text.replaceAll(
    /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.]*|true|false|null)|[^"\dtfn-]+|./g,
    (part, quoted?: string, colon?: string, value?: string) => {
      if (quoted) return colon ? `<b>${escaped(quoted)}</b>${colon}` : `<u>${escaped(quoted)}</u>`
      return value ? `<i>${value}</i>` : escaped(part)
    },
  )

/** Program code with its strings marked. */
export const code = (text: string) =>
  text
    .split(/('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/)
    .map((part, at) => (at % 2 === 1 ? `<u>${escaped(part)}</u>` : escaped(part)))
    .join('')
