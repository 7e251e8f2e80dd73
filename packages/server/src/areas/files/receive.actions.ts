/** Files that come with a request, from servers that don't want to upload them first. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { fail } from '../../platform/http/fail.ts'
import { beginFileCheck, driverOf, getOwn, reserveFile } from './actions.ts'
import type { FileRow } from './queries.ts'
import { partsOf, urlOf } from './record.ts'

/** How long a request waits for the check of its file. */
const CHECK_MS = 20_000
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1_000

/** A file in a folder of this process. */
export interface Received {
  path: string
  name: string
  mimeType: string
  size: number
}

/**
 * Stores a file, has it checked like every other one, and returns its path for an attachment. A request that is repeated
 * names the same id, and continues where the first one stopped.
 */
export async function receiveFile(
  deps: Deps,
  actor: Actor,
  id: string,
  { path, anySize = false, ...file }: Received & { anySize?: boolean },
): Promise<string> {
  const driver = driverOf(deps)
  const known = await reserveFile(deps, actor, file, { id, partSize: file.size, anySize })
  if (known.state === 'pending') {
    const [part] = partsOf(actor.app.id, known)
    await driver.store(part?.key ?? '', path, known.type)
    await beginFileCheck(deps, actor, id)
  }
  const { state, reason } = await checkedFile(actor, id)
  if (state === 'rejected') throw fail('ERR_FILE_REJECTED', { reason: reason ?? '' })
  if (state !== 'ready') throw fail('ERR_FILE_NOT_READY', { id, status: state })
  return urlOf(id)
}

/** The file once it was checked, or as it is when time is up. */
async function checkedFile(actor: Actor, id: string): Promise<FileRow> {
  const end = Date.now() + CHECK_MS
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const file = await getOwn(actor, id)
    if (file.state !== 'checking' || Date.now() > end) return file
    await sleep(pause)
  }
}
