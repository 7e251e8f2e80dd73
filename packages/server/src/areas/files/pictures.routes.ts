/**
 * Serves pictures of users and groups to everybody who knows their URL. It has 128 random bits, and what it shows never
 * changes. Only pictures have a square thumbnail, so no other file can be read here, and nothing looks at the database.
 */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../deps.ts'
import type { Credentials } from '../../gate/credentials.ts'
import { Failures } from '../../gate/failures.ts'
import type { FileDriver } from '../../platform/files/driver.ts'
import { SAFE_HEADERS } from '../../platform/files/headers.ts'
import { fail } from '../../platform/http/fail.ts'
import { PICTURES_PATH, prefixOf } from './record.ts'
import { FILE_ID } from './schema.ts'

/** Caches can show a picture for a month after it was deleted. */
const CACHE = 'public, max-age=2592000, immutable'

export function addPictures(
  app: FastifyInstance,
  deps: Pick<Deps, 'cache' | 'directory'>,
  driver: FileDriver,
  credentials: Credentials,
): void {
  const failures = new Failures(deps)
  app.get<{ Params: { appId: string; id: string } }>(
    `${PICTURES_PATH}/:appId/:id`,
    { schema: { hide: true } },
    async ({ params: { appId, id }, headers, ip }, reply) => {
      const missing = () => fail('ERR_FILE_NOT_FOUND', { id: id.slice(0, 100) })
      if (!FILE_ID.test(id)) throw missing()
      const found = await failures.findApp(deps.directory, appId, { address: ip, reply })
      const { cell } = found ?? {}
      const state = found && cell && (await credentials.app({ ...found, cell }))
      if (!state || state.suspended) throw missing()
      const picture = await driver.open(`${prefixOf(appId, id)}/square`)
      if (!picture) throw missing()
      const etag = `"${id}"`
      reply.headers({ ...SAFE_HEADERS, 'cache-control': CACHE, etag })
      if (headers['if-none-match'] === etag) {
        picture.body.destroy()
        return reply.code(304).send()
      }
      reply.headers({ 'content-type': 'image/webp', 'content-length': picture.size })
      return reply.send(picture.body)
    },
  )
}
