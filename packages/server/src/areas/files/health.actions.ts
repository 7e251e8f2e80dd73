/** Whether what files need works right now. */
import type { Deps } from '../../deps.ts'
import { clamdOf, versionOf } from './inspect/clamd.ts'

/** What takes longer isn't healthy. */
const ANSWER_MS = 5_000

interface StoreState {
  kind: 'none' | 'folder' | 's3'
  healthy: boolean
}

interface ScannerState {
  configured: boolean
  healthy: boolean
  version?: string
}

export async function stateOfStore({ files, log }: Deps): Promise<StoreState> {
  if (!files) return { kind: 'none', healthy: false }
  const probed = files.probe(AbortSignal.timeout(ANSWER_MS)).then(() => true)
  return { kind: files.kind, healthy: (await answer(probed, log, 'the store')) ?? false }
}

export async function stateOfScanner({ config, log }: Deps): Promise<ScannerState> {
  const clamd = clamdOf(config.files.clamd)
  if (!clamd) return { configured: false, healthy: false }
  const asked = versionOf({ ...clamd, timeoutMs: ANSWER_MS }, AbortSignal.timeout(ANSWER_MS))
  const version = await answer(asked, log, 'clamd')
  return { configured: true, healthy: version !== undefined, ...(version && { version }) }
}

/** What is wrong goes to the log only: operators of apps don't operate the installation. */
const answer = <T>(asked: Promise<T>, log: Deps['log'], what: string): Promise<T | undefined> =>
  asked.catch((error) => {
    log.warn({ err: error }, `${what} gave no answer`)
    return undefined
  })
