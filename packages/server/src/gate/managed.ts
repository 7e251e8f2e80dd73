import type { FastifyRequest } from 'fastify'

/** Path prefix of the management API on hosts other than `manage.<host>`. */
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

/** An app's data: the operations of `/v3`, and those on webhooks and moderation where the contract has them too. */
const DATA = /^\/manage\/apps\/([^/?#]+)\/(?:v3\/(.*)|((?:webhooks|moderation)(?:[/?#].*)?))$/s

interface Managed {
  appId: string
  url: string
}

/** The request for an app's data that a URL of the management API contains. */
function readData(path: string): Managed | undefined {
  const [, appId, data, short] = DATA.exec(path) ?? []
  return appId === undefined ? undefined : { appId, url: `/v3/${data ?? short}` }
}

type Raw = Pick<FastifyRequest['raw'], 'headers' | 'method' | 'url'>

/**
 * The URL that the router sees. Preflights (OPTIONS) of pages of other origins don't reach an app's
 * data.
 */
export function routedUrl({ headers, method, url = '/' }: Raw, serviceHost: string): string {
  const path = managePath(headers.host, url, serviceHost)
  if (path === undefined) return url
  if (method === 'OPTIONS') return path
  return readData(path)?.url ?? path
}

/** The app whose data is requested through the management API; undefined for other requests. */
export function managedAppId(
  { headers, originalUrl }: Pick<FastifyRequest, 'headers' | 'originalUrl'>,
  serviceHost: string,
): string | undefined {
  const path = managePath(headers.host, originalUrl, serviceHost)
  return path === undefined ? undefined : readData(path)?.appId
}
