import { pino } from 'pino'

/** Lines of this level and above are written at once. */
const URGENT = pino.levels.values.error ?? 50
/** Each write is a system call, which used to be an eighth of the CPU time of a request. */
const EVERY_MS = 200
const FULL = 8_192

/**
 * Collects the lines of a logger. The first line after a pause is written at once, later ones together every 200 ms or
 * when 8 kB are full. An error is written at once, after everything before it.
 */
export class LineBuffer {
  /** Makes pino set `lastLevel` before each write. */
  readonly [pino.symbols.needsMetadataGsym] = true as const
  lastLevel = 0
  readonly #output: (text: string) => void
  #text = ''
  #writtenAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  /** `output` writes synchronously: a write that was only started could be lost, or overtaken by an error. */
  constructor(output: (text: string) => void) {
    this.#output = output
  }

  write(line: string): void {
    this.#text += line
    if (this.lastLevel >= URGENT || this.#text.length >= FULL) this.flushSync()
    else if (!this.#timer) this.#schedule()
  }

  #schedule(): void {
    const wait = this.#writtenAt + EVERY_MS - performance.now()
    if (wait > 0) {
      this.#timer = setTimeout(this.flushSync, wait).unref()
      // Only while lines wait: a listener for each log that was ever opened would be a leak.
      process.on('exit', this.flushSync)
    } else this.flushSync()
  }

  /** The process also calls it on exit, whatever the reason. */
  readonly flushSync = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    process.off('exit', this.flushSync)
    const text = this.#text
    this.#text = ''
    this.#writtenAt = performance.now()
    if (text) this.#output(text)
  }
}
