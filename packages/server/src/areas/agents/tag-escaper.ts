/**
 * Escapes HTML in Markdown that arrives in pieces: `<` before a letter, `/`, `!` or `?` becomes `&lt;`. Clients show code as
 * it is, so nothing is escaped in code between fences and between two backticks. Readers of Markdown don't agree on what
 * is code; whatever one of them may take for something else is escaped.
 */

/** Longer code between backticks isn't taken for code, nor are lines with a longer start. */
const SPAN_LENGTH = 500
const START_LENGTH = 100

/** What can be before a fence: spaces, and the marks of quotes and lists. */
const START = /[ \t>*+\-\d.)]*/y
const INDENT = /[ \t]*/y
const RUN = /`+|~+/y
/** What is after a fence: the name of a language, and some settings. A line with `|` may begin a table instead. */
const INFO = /^[\w \t+#.:={}"'/,-]*$/
const SPECIAL = /[\n`<\\[\]]/g
/** What two backticks may enclose. The cells of a table end at `|`. */
const SPAN = /[^`|\n]*/y

interface Fence {
  mark: string
  length: number
  /** How many spaces are before it. */
  indent: number
}

/** What is shown of a text, and where it goes on. Undefined: the next piece decides. */
type Step = { shown: string; next: number } | undefined

const matchAt = (pattern: RegExp, text: string, at: number): string => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

export class TagEscaper {
  #held = ''
  /** The last character before it. */
  #last = ''
  #startsLine = true
  /** The block of code that the text is in. */
  #fence: Fence | undefined
  /**
   * Which fences are understood: none at all after one that may or may not have ended its block, and only those that
   * aren't indented after one in a list or a quote, which may be in or after its block.
   */
  #trusted: 'all' | 'outer' | 'none' = 'all'
  /** Whether the backticks of this paragraph have come in pairs. */
  #pairs = true
  /** How many brackets are open. Some readers look ahead from there, over blank lines too, and then take code for text. */
  #brackets = 0

  /** Adds a piece, and returns what became visible. */
  add(piece: string): string {
    return this.#read(this.#held + piece, false)
  }

  /** The text is complete. */
  end(): string {
    return this.#read(this.#held, true)
  }

  #read(text: string, ends: boolean): string {
    let shown = ''
    let at = 0
    while (at < text.length) {
      const step = this.#step(text, at, ends)
      if (!step) break
      shown += step.shown
      this.#last = step.shown.at(-1) ?? this.#last
      at = step.next
    }
    this.#held = text.slice(at)
    return shown
  }

  #step(text: string, at: number, ends: boolean): Step {
    if (this.#startsLine && this.#fence) return this.#startCode(this.#fence, text, at, ends)
    if (this.#startsLine) return this.#startLine(text, at, ends)
    if (this.#fence) return this.#readCode(text, at)
    return this.#readText(text, at, ends)
  }

  #startLine(text: string, at: number, ends: boolean): Step {
    const start = matchAt(START, text, at)
    const run = matchAt(RUN, text, at + start.length)
    const next = at + start.length + run.length
    const isLong = next - at > START_LENGTH
    if (next === text.length && !ends && !isLong) return undefined
    const isFence = run.length >= 3 && !isLong
    const isFree = this.#brackets === 0
    if (isFence && isFree && this.#understands(start)) {
      return this.#openFence(text, at, ends, start, run)
    }
    this.#startsLine = false
    if (isLong || (isFence && !isFree)) this.#distrust()
    else if (isFence) {
      this.#pairs = false
      if (this.#trusted === 'all') this.#trusted = 'outer'
    } else if (text[next] === '\n' && `${start}${run}`.trim() === '') this.#pairs = true
    return { shown: start, next: at + start.length }
  }

  #understands(start: string): boolean {
    if (this.#trusted === 'none') return false
    return start === '' || (this.#trusted === 'all' && /^ {1,3}$/.test(start))
  }

  #openFence(text: string, at: number, ends: boolean, start: string, run: string): Step {
    const end = text.indexOf('\n', at)
    const [line, info] = [at, at + start.length + run.length].map((from) =>
      text.slice(from, end === -1 ? undefined : end + 1),
    ) as [string, string]
    const isShort = line.length <= START_LENGTH
    if (end === -1 && isShort && !ends) return undefined
    if (end !== -1 && isShort && INFO.test(info.slice(0, -1))) {
      this.#fence = { mark: run.charAt(0), length: run.length, indent: start.length }
      this.#trusted = 'all'
      return { shown: line, next: end + 1 }
    }
    this.#startsLine = false
    this.#distrust()
    return { shown: `${start}${run}`, next: at + start.length + run.length }
  }

  #distrust(): void {
    this.#fence = undefined
    this.#trusted = 'none'
    this.#pairs = false
  }

  /** A line within a block of code, which may be its end. */
  #startCode(fence: Fence, text: string, at: number, ends: boolean): Step {
    const indent = matchAt(INDENT, text, at)
    const run = matchAt(RUN, text, at + indent.length)
    const after = at + indent.length + run.length
    const isFence = run.startsWith(fence.mark) && run.length >= fence.length
    const next = isFence ? after + matchAt(INDENT, text, after).length : after
    const isLong = next - at > START_LENGTH
    if (next === text.length && !ends && !isLong) return undefined
    this.#startsLine = false
    const isBlank = next === text.length || text[next] === '\n'
    const fits = fence.indent === 0 ? /^ {0,3}$/.test(indent) : indent === ' '.repeat(fence.indent)
    const leaves = !isBlank && !indent.includes('\t') && indent.length < fence.indent
    if (isFence && isBlank && fits && !isLong) {
      this.#fence = undefined
      this.#pairs = true
      return { shown: text.slice(at, next), next }
    }
    if (isFence || leaves || isLong) this.#distrust()
    return { shown: '', next: at }
  }

  #readCode(text: string, at: number): Step {
    const end = text.indexOf('\n', at)
    this.#startsLine = end !== -1
    const next = end === -1 ? text.length : end + 1
    return { shown: text.slice(at, next), next }
  }

  #readText(text: string, at: number, ends: boolean): Step {
    SPECIAL.lastIndex = at
    const special = SPECIAL.exec(text)?.index ?? text.length
    if (special > at) return { shown: text.slice(at, special), next: special }
    const [char = '', following] = [text[at], text[at + 1]]
    const next = at + 1
    if (char === '`') return this.#readSpan(text, at, ends)
    if (char === '\n') this.#startsLine = true
    if (char === '[') this.#brackets++
    if (char === '[' || char === '\n') return { shown: char, next }
    if (following === undefined && !ends) return undefined
    if (char === ']') {
      if (this.#last !== '\\') this.#brackets = Math.max(this.#brackets - 1, 0)
      // The title of a definition can begin here, and have a fence in it.
      if (following === ':') this.#distrust()
      return { shown: char, next }
    }
    // Markdown escapes it in the same way.
    if (char === '\\') return { shown: following === '<' ? '' : char, next }
    return { shown: /[A-Za-z/!?]/.test(following ?? '') ? '&lt;' : char, next }
  }

  /** Code between two backticks. */
  #readSpan(text: string, at: number, ends: boolean): Step {
    const inner = matchAt(SPAN, text, at + 1)
    const end = at + 1 + inner.length
    const isLong = inner.length > SPAN_LENGTH
    const isKnown = end + 1 < text.length || text[end] === '|' || text[end] === '\n'
    const isFree = this.#pairs && this.#brackets === 0 && !/[\\~]/.test(this.#last)
    if (isFree && !isKnown && !isLong && !ends) return undefined
    const closes = text[end] === '`' && text[end + 1] !== '`'
    if (isFree && !isLong && inner !== '' && closes) {
      return { shown: text.slice(at, end + 1), next: end + 1 }
    }
    // From here on, nobody knows which backticks belong together.
    this.#pairs = false
    return { shown: '`', next: at + 1 }
  }
}
