import type { Region } from '@loquat/protocol'
import type { FastifyRequest } from 'fastify'
import type { App, Directory } from '../../platform/cells/directory.ts'
import { fail } from '../../platform/http/fail.ts'
import type { ServedApp } from './actor.ts'

interface Named {
  appId: string
  /** Undefined on the bare host. */
  region: string | undefined
}

/** `{appId}.api-{region}.<host>`; on the bare host the header `appId` does the same. */
export function readApp(headers: FastifyRequest['headers'], serviceHost: string): Named {
  const host = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '')
  const [, appId, region] =
    (host.endsWith(`.${serviceHost}`) &&
      /^([^.]+)\.api-([a-z]+)$/.exec(host.slice(0, -serviceHost.length - 1))) ||
    []
  if (appId) return { appId, region }
  const header = headers.appid
  return { appId: typeof header === 'string' ? header.trim().toLowerCase() : '', region: undefined }
}

/** The app that a request is meant for, if this process serves it. */
export async function appOfRequest(
  directory: Directory,
  serviceHost: string,
  headers: FastifyRequest['headers'],
): Promise<ServedApp> {
  const { appId, region } = readApp(headers, serviceHost)
  if (!appId) throw fail('AUTH_ERR_EMPTY_APPID')
  const app = await directory.find(appId)
  if (!app) throw fail('AUTH_ERR_INVALID_APPID', { appId: appId.slice(0, 100) })
  if (!isServed(app, region)) throw wrongRegion(app)
  return app
}

const isServed = (app: App, region: string | undefined): app is ServedApp =>
  app.cell !== undefined && (region === undefined || region === app.region)

const wrongRegion = ({ id: appId, region }: { id: string; region: Region }) =>
  fail('AUTH_ERR_INVALID_APPID', { appId }, { devMessage: `The app lives in region ${region}.` })
