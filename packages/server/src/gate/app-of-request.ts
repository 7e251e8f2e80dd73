import type { Region } from '@loquat/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServedApp } from '../core/actor.ts'
import type { App, Directory } from '../platform/cells/directory.ts'
import { fail } from '../platform/http/fail.ts'
import type { Failures, Origin } from './failures.ts'

interface Named {
  appId: string
  /** Undefined on the bare host. */
  region: string | undefined
}

function appOfHost(given: string, serviceHost: string, services: string[]): Named | undefined {
  const host = given.toLowerCase().replace(/:\d+$/, '')
  if (!host.endsWith(`.${serviceHost}`)) return undefined
  const [appId = '', label = '', ...more] = host.slice(0, -serviceHost.length - 1).split('.')
  const [, kind, region] = /^([a-z]+)-([a-z]+)$/.exec(label) ?? []
  return services.includes(kind ?? '') && appId && more.length === 0 ? { appId, region } : undefined
}

/** `{appId}.api-{region}.<host>`, or `call-` in place of `api-`; on the bare host the header `appId` names the app. */
export function readApp(headers: FastifyRequest['headers'], serviceHost: string): Named {
  const named = appOfHost(headers.host ?? '', serviceHost, ['api', 'call'])
  if (named) return named
  const header = headers.appid
  return { appId: typeof header === 'string' ? header.trim().toLowerCase() : '', region: undefined }
}

/** Finds apps, and limits how many unknown ones an address may name. */
export interface AppFinder {
  directory: Directory
  failures: Failures
  serviceHost: string
}

/** The app of a request, if this process serves it. */
export const appOfRequest = (
  finder: AppFinder,
  { headers, ip: address }: FastifyRequest,
  reply: FastifyReply,
): Promise<ServedApp> =>
  findServed(finder, readApp(headers, finder.serviceHost), { address, reply })

/** The same for a WebSocket: `{appId}.realtime-{region}.<host>`, or `?appId=` on the bare host. */
export const appOfSocket = (
  finder: AppFinder,
  { host = '', appId }: { host: string | undefined; appId: string | null },
  address: string,
): Promise<ServedApp> =>
  findServed(
    finder,
    appOfHost(host, finder.serviceHost, ['realtime']) ?? {
      appId: (appId ?? '').trim().toLowerCase(),
      region: undefined,
    },
    { address },
  )

async function findServed(
  { directory, failures }: AppFinder,
  { appId, region }: Named,
  from: Origin,
): Promise<ServedApp> {
  if (!appId) throw fail('AUTH_ERR_EMPTY_APPID')
  return servedApp(await failures.findApp(directory, appId, from), appId, region)
}

/** The app, if it exists and this process serves it. */
export function servedApp(app: App | undefined, appId: string, region: string | undefined) {
  if (!app) throw unknownApp(appId)
  if (!isServed(app, region)) throw wrongRegion(app)
  return app
}

/** The app that an operator manages, for what its cell stores. One that is scheduled for deletion has nothing there. */
export async function servedManagedApp(
  { directory }: { directory: Directory },
  { managedApp: { id, archived } }: FastifyRequest,
): Promise<ServedApp> {
  if (archived) throw unknownApp(id)
  return servedApp(await directory.find(id), id, undefined)
}

export const unknownApp = (appId: string) =>
  fail('AUTH_ERR_INVALID_APPID', { appId: appId.slice(0, 100) })

const isServed = (app: App, region: string | undefined): app is ServedApp =>
  app.cell !== undefined && (region === undefined || region === app.region)

const wrongRegion = ({ id: appId, region }: { id: string; region: Region }) =>
  fail(
    'AUTH_ERR_INVALID_APPID',
    { appId },
    { devMessage: `The app lives in the region ${region}. Call its host name there.` },
  )
