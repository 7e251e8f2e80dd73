import type { Region } from './protocol.gen.ts'

/** The address of the app: its own host name, or the base URL of an installation. */
export type Address =
  | { region: Region; host: string; baseUrl?: never }
  | { baseUrl: string; region?: never; host?: never }

/** Where to send requests, and the headers of each request. */
export interface Target {
  origin: string
  headers: Record<string, string>
}

/** The origin of all requests. Without a host name of its own, the app is named by a header. */
export function readAddress(appId: string, address: Address): Target {
  if (address.baseUrl !== undefined)
    return { origin: withoutSlash(address.baseUrl), headers: { appid: appId } }
  return { origin: `https://${appId}.api-${address.region}.${address.host}`, headers: {} }
}

export const withoutSlash = (url: string) => url.replace(/\/+$/, '')

/** The URL that devices connect to. */
export function realtimeUrl(appId: string, address: Address): string {
  if (address.baseUrl !== undefined) {
    const base = withoutSlash(address.baseUrl).replace(/^http/, 'ws')
    return `${base}/v3/realtime?appId=${encodeURIComponent(appId)}`
  }
  return `wss://${appId}.realtime-${address.region}.${address.host}/v3/realtime`
}

/**
 * Encodes an id as a path segment. Rejects empty ids and dots: `fetch` normalizes URLs, so they would silently call another
 * operation.
 */
export function segment(id: string | number): string {
  if (id === '' || id === '.' || id === '..') throw new TypeError(`"${id}" can't be used as an id`)
  return encodeURIComponent(id)
}

/** Builds `?name=value…`, or an empty string. Joins lists with commas, as the server expects. */
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
    throw new TypeError(
      `${name}: "${split}" contains a comma, which separates the values of a list`,
    )
  return value.join(',')
}
