const WIDTH = 30
/** The interval between lines if there is no progress bar. */
const LINE_MS = 5_000

export interface Terminal {
  isTTY?: boolean
  write(text: string): unknown
}

export interface Progress {
  show(done: number): void
  /** Clears the line of the progress bar. */
  end(): void
}

/** Draws a progress bar on a terminal. Elsewhere, prints a line every few seconds. */
export function startProgress(terminal: Terminal, what: string, wanted: number): Progress {
  const started = performance.now()
  let lastLine = started
  const text = (done: number) => {
    const rate = done / ((performance.now() - started) / 1000)
    const left = Math.ceil((wanted - done) / rate)
    return `${thousands(done)} of ${thousands(wanted)} ${what}, ${thousands(rate)}/s, ${left} s left`
  }
  return {
    show(done) {
      const now = performance.now()
      if (terminal.isTTY) {
        const full = Math.round((done / wanted) * WIDTH)
        const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full)
        // Erases the rest of a longer previous line.
        terminal.write(`\r${bar} ${text(done)}\u001b[K`)
      } else if (now - lastLine >= LINE_MS) {
        lastLine = now
        terminal.write(`${text(done)}\n`)
      }
    },
    end() {
      if (terminal.isTTY) terminal.write('\r\u001b[K')
    },
  }
}

export const thousands = (value: number) => Math.round(value).toLocaleString('en-US')
