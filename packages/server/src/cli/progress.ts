const WIDTH = 30
/** Between two lines where there is no bar. */
const LINE_MS = 5_000

export interface Terminal {
  isTTY?: boolean
  write(text: string): unknown
}

export interface Progress {
  show(done: number): void
  /** Leaves the line to others. */
  end(): void
}

/** A bar that is drawn over on a terminal; elsewhere a line now and then. */
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
        // Erases what a longer line left.
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
