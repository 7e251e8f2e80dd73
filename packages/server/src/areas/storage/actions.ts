/** What operators see of the files of an app, and of the store that has them. */
import type { FastifyRequest } from 'fastify'
import { limitOf, settingsInForce } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { servedManagedApp } from '../../gate/app-of-request.ts'
import { stateOfScanner, stateOfStore } from '../files/health.actions.ts'
import { countWaiting, listKinds, listRejected, listUsage } from '../files/queries.ts'
import { toFile } from '../files/record.ts'
import { getSettings } from '../settings/queries.ts'
import type { Storage } from './schema.ts'

const REJECTED = 100
const MOST_WAITING = 1_000

export async function getStorage(deps: Deps, request: FastifyRequest): Promise<Storage> {
  const { no: appNo, cell } = await servedManagedApp(deps, request)
  const { db } = cell
  const settings = settingsInForce(await getSettings.one(db, { appNo }))
  const [total] = await listUsage.many(db, { appNo, limit: 0 })
  const { waiting } = await countWaiting.one(db, { appNo, limit: MOST_WAITING })
  const rejected = await listRejected.many(db, { appNo, limit: REJECTED })
  const [store, scanner] = await Promise.all([stateOfStore(deps), stateOfScanner(deps)])
  return {
    ...{ store, scanner, files: total?.files ?? 0, bytes: total?.bytes ?? 0, waiting },
    limit: limitOf(settings, 'limits.storageBytes'),
    fileLimit: limitOf(settings, 'limits.fileBytes'),
    kinds: (await listKinds.many(db, { appNo })) as Storage['kinds'],
    rejected: rejected.map((row) => {
      const { id, name, mimeType, size, reason, uploadedBy, createdAt } = toFile(row)
      return {
        ...{ id, name, mimeType, size, createdAt },
        ...(reason && { reason }),
        ...(uploadedBy !== undefined && { uploadedBy }),
      }
    }),
  }
}
