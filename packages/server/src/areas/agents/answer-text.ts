/**
 * The text of an answer before anybody sees it. A model writes what a message or a tool told it to, so the text is as
 * hostile as its input: an image of a foreign host would send what the URL contains to that host, without a click. Many
 * clients show HTML that is in Markdown, so there is none.
 */
import { TagEscaper } from './tag-escaper.ts'

/** The most bytes of an answer. */
export const ANSWER_BYTES = 32_000

/** Control characters but for tabs and line feeds, overrides of the direction, and characters that nobody sees. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g

export const strip = (text: string) => text.replace(INVISIBLE, '')

/** Markdown shows an image as a link then. Several exclamation marks must not leave one. */
const withoutImages = (text: string) => text.replace(/!+\[/g, '[')

/** Collects the pieces of an answer, and cleans them. */
export class AnswerText {
  /** What can be shown. */
  text = ''
  /** Whether the answer is longer than allowed. The rest is left out. */
  full = false
  /** What the next piece may change: exclamation marks, and the first half of a character. */
  #held = ''
  #bytes = 0
  readonly #escaper = new TagEscaper()

  /** Adds a piece, and returns what became visible. */
  add(piece: string): string {
    if (this.full) return ''
    const all = strip(this.#held + piece)
    this.#held = /!*[\ud800-\udbff]?$/.exec(all)?.[0] ?? ''
    if (this.#held.length > ANSWER_BYTES) this.full = true
    const ready = this.#cut(all.slice(0, all.length - this.#held.length))
    return this.#show(this.#escaper.add(ready))
  }

  /** The answer is complete. */
  end(): string {
    const rest = this.#cut(this.#held)
    this.#held = ''
    return this.#show(this.#escaper.add(rest) + this.#escaper.end())
  }

  /** What may still be added. Before it is escaped, because code that is cut off isn't code. */
  #cut(ready: string): string {
    const text = withoutImages(ready).toWellFormed()
    const left = ANSWER_BYTES - this.#bytes
    const bytes = bytesOf(text)
    if (bytes <= left) {
      this.#bytes += bytes
      return text
    }
    this.full = true
    this.#bytes = ANSWER_BYTES
    return startOf(text, left)
  }

  #show(shown: string): string {
    this.text += shown
    return shown
  }
}

const ESCAPED = '&lt;'

/** The bytes of a text if all of it is escaped. */
const bytesOf = (text: string) => Buffer.byteLength(text.replaceAll('<', ESCAPED))

/** The beginning of a text with at most so many bytes, in whole characters. */
function startOf(text: string, bytes: number): string {
  let [length, left] = [0, bytes]
  for (const char of text) {
    left -= bytesOf(char)
    if (left < 0) break
    length += char.length
  }
  return text.slice(0, length)
}

/** A text that a model wrote at once, which is as hostile as what the model reads. */
export function cleaned(text: string): string {
  const answer = new AnswerText()
  answer.add(text)
  answer.end()
  return answer.text.trim()
}
