import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** No job and no upload takes this long. */
const LEFT_BEHIND_MS = 24 * 3_600_000

/** A new folder in `parent`. */
export async function openScratch(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true })
  return mkdtemp(join(parent, 'run-'))
}

/** Deletes what is older than a day in a folder. */
export async function tidy(parent: string, now = Date.now()): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const path = join(parent, name)
    const found = await stat(path).catch(() => undefined)
    if (found && found.mtimeMs < now - LEFT_BEHIND_MS)
      await rm(path, { recursive: true, force: true })
  }
}
