import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { ClientFrame } from '@loquat/protocol'
import type { Connection } from '../areas/presence/presence.ts'
import { storableStart } from '../platform/http/characters.ts'
import { clientAddress } from '../platform/net/network.ts'

/** The longest value that is kept. `auth` allows less. */
const MAX_LENGTH = 255

/** Devices can send anything, and receivers may print it. */
const cleaned = (text: string) => storableStart(text.replace(/\p{Cc}/gu, ' '), MAX_LENGTH)

/** What is known about a connected device. */
export type DeviceInfo = Omit<Connection, 'connectedAt'>

/** What the request says about the device. */
export function infoOfRequest(
  { headers, socket }: IncomingMessage,
  proxies: BlockList,
): DeviceInfo {
  const { 'user-agent': userAgent, 'x-forwarded-for': forwarded, origin } = headers
  const clientIp = clientAddress(socket.remoteAddress, [forwarded].flat().join(), proxies)
  return {
    ...(userAgent && { userAgent: cleaned(userAgent) }),
    appInfo: {
      ...(origin && { origin: cleaned(origin) }),
      ...(clientIp !== undefined && { clientIp }),
    },
  }
}

/** Adds what the device says about itself in `auth`. */
export function addAuthInfo(
  { appInfo, ...known }: DeviceInfo,
  { resource, platform, appInfo: app = {} }: ClientFrame<'auth'>['body'],
): DeviceInfo {
  const { version, apiVersion } = app
  return {
    ...known,
    ...(platform !== undefined && { platform: cleaned(platform) }),
    ...(resource !== undefined && { device: cleaned(resource) }),
    appInfo: {
      ...appInfo,
      ...(version !== undefined && { version: cleaned(version) }),
      ...(apiVersion !== undefined && { apiVersion: cleaned(apiVersion) }),
    },
  }
}
