/** Pictures of users and groups: files of ours, or any other URL. */
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import { fail } from '../../platform/http/fail.ts'
import { driverOf, getOwn } from './actions.ts'
import { idOfPicture, idOfUrl, pictureUrl, urlOf } from './record.ts'

/** Why a picture can be refused. */
export const PICTURE_ERRORS = [
  'ERR_FILES_NOT_CONFIGURED',
  'ERR_FILE_NOT_FOUND',
  'ERR_FILE_NOT_READY',
  'ERR_FILE_NOT_PICTURE',
] as const

/** What the row of a user or group says. Null keeps what it says now. */
interface Picture {
  url: string | null
  file: string | null
}

/** A picture for a new user or group, or instead of `current`. */
interface Wanted {
  url: string | null | undefined
  current?: (() => Promise<string | null | undefined>) | undefined
}

/**
 * Replaces the path of a file by the URL that everybody can read. The file has to be a picture that is ready, and that
 * the actor uploaded. Reads nothing for URLs of other hosts.
 */
export async function pictureOf(
  deps: Pick<Deps, 'config' | 'files'>,
  actor: Actor,
  { url, current }: Wanted,
  db: Executor,
): Promise<Picture> {
  if (!url) return { url: null, file: null }
  const { app } = actor
  const id = idOfUrl(url) ?? idOfPicture(deps.config, app.id, url)
  if (id === undefined) {
    if (url.startsWith('/')) throw fail('ERR_FILE_NOT_FOUND', { id: url.slice(urlOf('').length) })
    return { url, file: null }
  }
  driverOf(deps)
  const shown = pictureUrl(deps.config, app.id, id)
  // Who saves a whole record keeps its picture, whoever uploaded it.
  if (current && (await current()) === shown) return { url: null, file: null }
  const file = await getOwn(actor, id, db)
  if (file.state !== 'ready') throw fail('ERR_FILE_NOT_READY', { id, status: file.state })
  if (!file.picture) throw fail('ERR_FILE_NOT_PICTURE', { id })
  return { url: shown, file: id }
}
