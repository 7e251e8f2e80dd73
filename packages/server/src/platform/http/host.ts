import type { IncomingMessage } from 'node:http'

/**
 * RFC 9112, section 3.2: HTTP/1.1 must name one host. Node keeps the first of several, but a proxy may route by
 * another one.
 */
export function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1')
}
