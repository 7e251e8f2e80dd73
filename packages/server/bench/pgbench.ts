import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { findBinaries } from '../src/engines/binaries.ts'

export interface Load {
  clients: number
  /** Not measured. Each session first plans its statements and those of the functions, which takes about 60 ms of CPU. */
  warmUp: number
  seconds: number
}

export interface Done {
  count: number
  rate: number
}

/** Runs a pgbench script with prepared statements. `onWarm` is called when the measured part begins. */
export async function pgbench(
  url: string,
  script: string,
  { clients, warmUp, seconds }: Load,
  onWarm: () => void,
): Promise<Done> {
  const folder = mkdtempSync(join(tmpdir(), 'loquat-pgbench-'))
  const file = join(folder, 'script.sql')
  writeFileSync(file, script)
  const options = ['-n', '-M', 'prepared', '-P', 1, '-c', clients, '-T', warmUp + seconds]
  const child = spawn(programPath(), [...options, '-f', file, url].map(String))
  try {
    const summary = text(child.stdout)
    const ended = once(child, 'exit')
    const before = await warmed(child.stderr, warmUp, onWarm)
    await ended
    return doneSince(await summary, before, warmUp + seconds)
  } finally {
    child.kill()
    rmSync(folder, { recursive: true })
  }
}

interface Warmed {
  at: number
  count: number
}

/** Reads `progress: 3.0 s, 1170.0 tps, …`, one line per second, to the end. */
async function warmed(lines: NodeJS.ReadableStream, warmUp: number, onWarm: () => void) {
  let last: Warmed = { at: 0, count: 0 }
  let warm: Warmed | undefined
  for await (const line of createInterface(lines)) {
    const [, at, rate] = /^progress: ([\d.]+) s, ([\d.]+) tps/.exec(line) ?? []
    if (at === undefined || warm) continue
    last = { at: Number(at), count: last.count + Number(rate) * (Number(at) - last.at) }
    if (last.at < warmUp) continue
    warm = last
    onWarm()
  }
  if (!warm) throw new Error('pgbench ended before it was warm')
  return warm
}

function doneSince(summary: string, before: Warmed, end: number): Done {
  const [, all = ''] = /actually processed: (\d+)/.exec(summary) ?? []
  const [, failed = ''] = /failed transactions: (\d+)/.exec(summary) ?? []
  if (all === '' || failed !== '0') throw new Error(`pgbench: ${summary}`)
  const count = Number(all) - before.count
  return { count, rate: count / (end - before.at) }
}

const programPath = () => join(dirname(findBinaries(process.env.PATH ?? '').postgres), 'pgbench')
