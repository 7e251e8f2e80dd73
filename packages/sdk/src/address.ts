import type { Region } from './protocol.gen.ts'

/** Where the app is reached: its own host name, or the bare host of an installation. */
export type Address =
  | { region: Region; host: string; baseUrl?: never }
  | { baseUrl: string; region?: never; host?: never }

/** Where requests go, and what each of them carries. */
export interface Target {
  origin: string
  headers: Record<string, string>
}

/** The origin of all requests. On a bare host the app is named by a header. */
export function readAddress(appId: string, address: Address): Target {
  if (address.baseUrl !== undefined)
    return { origin: withoutSlash(address.baseUrl), headers: { appid: appId } }
  return { origin: `https://${appId}.api-${address.region}.${address.host}`, headers: {} }
}

export const withoutSlash = (url: string) => url.replace(/\/+$/, '')

/** Where devices connect. */
export function realtimeUrl(appId: string, address: Address): string {
  if (address.baseUrl !== undefined) {
    const base = withoutSlash(address.baseUrl).replace(/^http/, 'ws')
    return `${base}/v3/realtime?appId=${encodeURIComponent(appId)}`
  }
  return `wss://${appId}.realtime-${address.region}.${address.host}/v3/realtime`
}

/**
 * An id as part of a path. Without the check an empty id or dots would silently lead to another
 * operation: URLs are shortened before they are sent.
 */
export function segment(id: string | number): string {
  if (id === '' || id === '.' || id === '..')
    throw new TypeError(`"${id}" cannot be an id in the path of a request`)
  return encodeURIComponent(id)
}

/** `?name=value…`, or nothing. Lists are joined by commas, as the server reads them. */
export function searchOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const texts = given.map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(name, value))}`,
  )
  return texts.length > 0 ? `?${texts.join('&')}` : ''
}

function textOf(name: string, value: unknown): string {
  if (!Array.isArray(value)) return String(value)
  const split = value.find((item) => String(item).includes(','))
  if (split !== undefined)
    throw new TypeError(`${name}: "${split}" has a comma, which separates the values of a list`)
  return value.join(',')
}
