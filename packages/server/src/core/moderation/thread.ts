/** The thread in which `threads.ts` and `batches.ts` run rules. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { CompiledRules, type Hit, type RuleSource, type Texts } from './rules.ts'

/** Rules to compile, or texts of messages to check by rules that the thread may have forgotten. */
export type Request = { version: string } & ({ source: RuleSource } | { messages: Texts[] })
export type Answer = 'ready' | 'unknown' | { hits: Hit[][] }

/** What a thread is started with. */
export interface ThreadOptions {
  /** It only uses CPU time that nobody else needs. */
  low: boolean
}

/** How many apps' rules the thread keeps. */
const KEPT = 8

const compiled = new Map<string, CompiledRules>()

async function compile(version: string, source: RuleSource): Promise<Answer> {
  const [oldest] = compiled.size < KEPT ? [] : compiled.keys()
  if (oldest !== undefined) compiled.delete(oldest)
  compiled.set(version, await CompiledRules.of(source))
  return 'ready'
}

function check(version: string, messages: Texts[]): Answer {
  const rules = compiled.get(version)
  return rules ? { hits: messages.map((texts) => rules.check(texts)) } : 'unknown'
}

// On Linux, this thread's own priority. Elsewhere it would be that of the whole process.
if ((workerData as ThreadOptions | null)?.low && process.platform === 'linux') {
  setPriority(constants.priority.PRIORITY_LOW)
}
parentPort?.on('message', async (request: Request) => {
  const { version } = request
  const answer =
    'source' in request ? await compile(version, request.source) : check(version, request.messages)
  parentPort?.postMessage(answer)
})
parentPort?.postMessage('ready' satisfies Answer)
