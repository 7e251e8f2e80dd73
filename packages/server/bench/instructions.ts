/**
 * The instructions and the WAL of a send, compared with a one-row insert. Both are nearly the same on a busy
 * machine, so they show small changes of a statement that its time hides.
 */
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { stopProcess } from '../src/engines/process.ts'
import { countInstructions, requireValgrind } from './callgrind.ts'
import { type Figure, type Report, reported } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { postmasterOf } from './processes.ts'
import { prepare, type SendData } from './send-data.ts'
import { ruledStatements, setRules } from './send-rules.ts'
import { type Statement, sendStatements } from './send-statements.ts'
import { walPosition, withPlainWal } from './wal.ts'

const MEMBERS = 300
/** For the WAL. */
const MESSAGES = 1_000

interface Measured {
  what: string
  /** Thousands of instructions per message. */
  instructions: number
  walBytes: number
}

export async function instructions(env: EnginesEnv, report: Report): Promise<Figure[]> {
  requireValgrind()
  const deps = await openInstallation(env)
  let data: SendData | undefined
  let ruled: SendData | undefined
  let server: Awaited<ReturnType<typeof serverOf>>
  let wal: number[]
  let statements: Record<string, Statement>
  try {
    data = await prepare(await newBenchApp(deps), [MEMBERS])
    ruled = await prepare(await newBenchApp(deps), [MEMBERS])
    await setRules(ruled)
    report('filled')
    statements = {
      ...(await sendStatements(data, MEMBERS)),
      ...(await ruledStatements(ruled, MEMBERS)),
    }
    wal = await walOf(data, Object.values(statements))
    report(`WAL, bytes: ${wal.map(Math.round).join(', ')}`)
    server = await serverOf(data)
  } finally {
    await data?.client.end()
    await ruled?.client.end()
    await closeDeps(deps)
  }
  // Nothing else uses these engines, so their data needs no copy.
  await stopProcess(server.postmaster, server.directory, 'SIGINT')
  const counts = await countInstructions(server, Object.values(statements))
  report(`k instructions: ${counts.map(Math.round).join(', ')}`)
  return figuresOf(
    Object.keys(statements).map((what, nth) => ({
      what,
      instructions: counts[nth] ?? Number.NaN,
      walBytes: wal[nth] ?? Number.NaN,
    })),
  )
}

/** All of them compared with the first one. */
function figuresOf(measured: Measured[]): Figure[] {
  const [bare] = measured
  return measured.flatMap(({ what, instructions, walBytes }) => [
    reported(`k instructions of ${what}`, instructions, bare?.instructions ?? 0),
    reported(`WAL of ${what}, bytes`, walBytes, bare?.walBytes ?? 0),
  ])
}

/** Bytes of WAL per message. No worker runs, so they don't include what the sequencer writes. */
async function walOf({ client }: SendData, statements: Statement[]): Promise<number[]> {
  await client.query('set synchronous_commit = off')
  return withPlainWal(client, async () => {
    const bytes: number[] = []
    for (const { types, text, args, messages } of statements) {
      await client.query(`prepare s(${types}) as ${text}`)
      const before = await walPosition(client)
      const executions = Math.ceil(MESSAGES / messages)
      for (let nth = 0; nth < executions; nth++) {
        const { rowCount } = await client.query(`execute s(${args(nth)})`)
        if (rowCount !== messages)
          throw new Error(`${rowCount} rows instead of ${messages}: ${text}`)
      }
      bytes.push(((await walPosition(client)) - before) / executions / messages)
      await client.query('deallocate s')
    }
    return bytes
  })
}

async function serverOf({ client }: SendData) {
  const { rows } = await client.query<{ directory: string; database: string }>(
    `select current_setting('data_directory') as directory, current_database() as database`,
  )
  const [found] = rows
  if (!found) throw new Error('PostgreSQL has no data directory')
  return { ...found, postmaster: await postmasterOf(client) }
}
