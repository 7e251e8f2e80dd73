/** The thread in which `threads.ts` runs rules on long texts. */
import { parentPort } from 'node:worker_threads'
import { CompiledRules, type Hit, type RuleSource, type Texts } from './rules.ts'

/** Rules to compile, or texts to check by rules that the thread may have forgotten. */
export type Request = { version: string } & ({ source: RuleSource } | { texts: Texts })
export type Answer = 'ready' | 'unknown' | { hits: Hit[] }

/** How many apps' rules the thread keeps. */
const KEPT = 8

const compiled = new Map<string, CompiledRules>()

async function compile(version: string, source: RuleSource): Promise<Answer> {
  const [oldest] = compiled.size < KEPT ? [] : compiled.keys()
  if (oldest !== undefined) compiled.delete(oldest)
  compiled.set(version, await CompiledRules.of(source))
  return 'ready'
}

function check(version: string, texts: Texts): Answer {
  const rules = compiled.get(version)
  return rules ? { hits: rules.check(texts) } : 'unknown'
}

parentPort?.on('message', async (request: Request) => {
  const { version } = request
  const answer =
    'source' in request ? await compile(version, request.source) : check(version, request.texts)
  parentPort?.postMessage(answer)
})
parentPort?.postMessage('ready' satisfies Answer)
