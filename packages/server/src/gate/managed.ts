import type { FastifyRequest } from 'fastify'

/** Below it stands the management interface where `manage.<host>` has no name of its own. */
export const MANAGE = '/manage'

/** `manage.<host>/…` is `/manage/…` on any host: one set of routes serves both. */
function managePath(
  host: string | undefined,
  url: string,
  serviceHost: string,
): string | undefined {
  const name = (host ?? '').toLowerCase().replace(/:\d+$/, '')
  if (name === `manage.${serviceHost}`) return url.startsWith('/') ? MANAGE + url : undefined
  return url.startsWith(`${MANAGE}/`) ? url : undefined
}

/** An app's data: the operations of `/v3`, and its webhooks where the contract has them too. */
const DATA = /^\/manage\/apps\/([^/?#]+)\/(?:v3\/(.*)|(webhooks(?:[/?#].*)?))$/s

interface Managed {
  appId: string
  url: string
}

/** The request for data of an app that stands in a URL of the management interface. */
function readData(path: string): Managed | undefined {
  const [, appId, data, webhooks] = DATA.exec(path) ?? []
  return appId === undefined ? undefined : { appId, url: `/v3/${data ?? webhooks}` }
}

type Raw = Pick<FastifyRequest['raw'], 'headers' | 'method' | 'url'>

/** The URL that the router sees. Pages of other origins ask (OPTIONS) for the data of an app in vain. */
export function routedUrl({ headers, method, url = '/' }: Raw, serviceHost: string): string {
  const path = managePath(headers.host, url, serviceHost)
  if (path === undefined) return url
  if (method === 'OPTIONS') return path
  return readData(path)?.url ?? path
}

/** The app whose data is asked for through the management interface; undefined for all else. */
export function managedAppId(
  { headers, originalUrl }: Pick<FastifyRequest, 'headers' | 'originalUrl'>,
  serviceHost: string,
): string | undefined {
  const path = managePath(headers.host, originalUrl, serviceHost)
  return path === undefined ? undefined : readData(path)?.appId
}
