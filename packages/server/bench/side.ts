import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Report } from './figure.ts'
import type { Printed } from './ratios.ts'

const PAUSE = new URL('pause.ts', import.meta.url).href

/** The bench of one work tree, run with that tree's own command and Node. It pauses after each line that it reports. */
export class Side {
  readonly root: string
  /** Doesn't reject if a figure misses its bar. */
  readonly figures: Promise<Printed>
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(root: string, bench: string, report: Report) {
    this.root = root
    this.#child = spawn(
      join(root, 'node_modules/.bin/node'),
      ['--import', PAUSE, 'scripts/bench.ts', bench, '--json'],
      { cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] },
    )
    const { stdout, stderr } = this.#child
    if (!stdout || !stderr) throw new Error('the bench has no output')
    createInterface(stderr).on('line', report)
    this.#ended = once(this.#child, 'close')
    this.figures = text(stdout).then(figuresIn)
    // A caller that stops a side doesn't wait for its figures.
    this.figures.catch(() => {})
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves when the bench waits for its turn, or has ended. */
  async paused(): Promise<void> {
    await Promise.race([once(this.#turns, 'data'), this.#ended])
  }

  /** Lets the bench run until it waits again. */
  async proceed(): Promise<void> {
    if (!this.running) return
    const paused = this.paused()
    this.#turns.write('.')
    await paused
  }

  async stop(): Promise<void> {
    // The bench doesn't handle signals while it waits.
    this.#turns.destroy()
    if (this.running) this.#child.kill('SIGTERM')
    await this.#ended
  }

  get #turns(): Duplex {
    return this.#child.stdio[3] as Duplex
  }
}

function figuresIn(printed: string): Printed {
  const last = printed.trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{'))
    throw new Error('The bench ended without figures: see its lines above.')
  return JSON.parse(last).figures
}
