/**
 * What somebody wrote in an answer to an email: without the email that they answered, and without their signature.
 * There is no standard for it, so this knows what common mail programs do in several languages. It works in one pass:
 * anybody can send emails of any kind.
 */

/** Longer answers are cut, as is what is looked at. */
const LONGEST_REPLY = 10_000
const LONGEST_INPUT = 100_000
const LONGEST_HTML = 400_000
const LONGEST_LINE = 300

/** How mail programs begin the email that was answered, on one line or broken into two. */
const INTRODUCTIONS = [
  /^On .{5,300} wrote:$/,
  /^Am .{5,300} schrieb .{1,200}:$/,
  /^.{5,300} schrieb am .{5,200}:$/,
  /^Le .{5,300} a écrit\s?:$/,
  /^El .{5,300} escribió:$/,
  /^Em .{5,300} escreveu:$/,
  /^.{5,300} のメール:$/,
  /^في .{5,300} كتب.{0,200}:$/,
]
const SEPARATORS = [
  /^-{2,}\s*(Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original|Mensagem original)\s*-{2,}$/i,
  /^_{10,}$/,
  /^--\s?$/,
  /^(Sent from my|Von meinem|Gesendet von|Envoyé de(puis)? mon|Enviado desde mi|Enviado do meu|Get Outlook for) .{1,60}/i,
]
const HEADERS = /^\*?(From|Von|De|Da|差出人)\s?:\*?\s.{1,300}/i
const MORE_HEADERS =
  /^\*?(Sent|Date|To|Subject|Gesendet|Datum|An|Betreff|Envoyé|À|Objet|Enviado|Para|Asunto|Assunto|送信日時)\s?:/i

export function replyText({ text, html }: { text: string; html: string }): string {
  const plain = text.trim() ? text : textOfHtml(html)
  const lines = plain
    .slice(0, LONGEST_INPUT)
    .replace(/\r\n?/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: messages can't contain them
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .split('\n')
  const own: string[] = []
  for (const [n, line] of lines.entries()) {
    if (endsReply(line, lines[n + 1] ?? '', lines[n + 2] ?? '')) break
    // Answers between quoted lines stay.
    if (!line.trimStart().startsWith('>')) own.push(line.trimEnd())
  }
  return own
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .slice(0, LONGEST_REPLY)
    .toWellFormed()
}

function endsReply(given: string, second: string, third: string): boolean {
  const line = given.trim().slice(0, LONGEST_LINE)
  if (line === '') return false
  const both = `${line} ${second.trim().slice(0, LONGEST_LINE)}`
  if (INTRODUCTIONS.some((one) => one.test(line) || one.test(both))) return true
  if (SEPARATORS.some((one) => one.test(line))) return true
  return HEADERS.test(line) && [second, third].some((next) => MORE_HEADERS.test(next.trim()))
}

/** Elements that contain the email that was answered. */
const QUOTES =
  /class=["']?[^"'>]{0,200}(gmail_quote|yahoo_quoted|moz-cite-prefix|protonmail_quote)|id=["']?(divRplyFwdMsg|appendonsend|reply-intro)|type=["']?cite/i
const HIDDEN = new Set(['style', 'script', 'head', 'title', 'template', 'noscript', 'svg'])
const BREAKS = /^\/?(p|div|br|tr|li|h[1-6]|table|ul|ol|pre)$/

/** The text of HTML, up to the email that was answered. */
function textOfHtml(given: string): string {
  const html = given.slice(0, LONGEST_HTML)
  const lower = html.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  let text = ''
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open < 0) break
    text += html.slice(at, open)
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open)
      if (end < 0) return entities(text)
      at = end + 3
      continue
    }
    const close = html.indexOf('>', open)
    if (close < 0) return entities(text)
    const tag = html.slice(open + 1, Math.min(close, open + 1_000))
    const name = (/^\/?[a-z0-9]+/i.exec(tag)?.[0] ?? '').toLowerCase()
    if (name === 'blockquote' || QUOTES.test(tag)) return entities(text)
    at = close + 1
    if (HIDDEN.has(name)) {
      const end = lower.indexOf(`</${name}`, at)
      if (end < 0) return entities(text)
      at = end
    } else if (BREAKS.test(name)) text += '\n'
  }
  return entities(text + html.slice(at))
}

const NAMED: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' },
}

const entities = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (all, decimal, hex, name) => {
    if (name) return NAMED[name.toLowerCase()] ?? all
    const code = Number.parseInt(decimal ?? hex, decimal ? 10 : 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
