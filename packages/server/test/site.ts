/** A real web server whose pages a test controls, and what it was asked. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** HTML, or what answers. */
export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void)

export interface Site {
  url: string
  /** Can be changed. */
  pages: Record<string, Page>
  /** Answers other paths; without it they don't exist. */
  other?: (path: string) => Page | undefined
  requests: { path: string; headers: IncomingMessage['headers'] }[]
  /** The paths that were asked for since the last time. */
  paths(): string[]
}

/** Opens a site that ends with the test, over TLS if it has a certificate. */
export async function openSite(
  t: TestContext,
  pages: Site['pages'],
  other?: Site['other'],
  certificate?: { key: string | Buffer; cert: string | Buffer },
): Promise<Site> {
  const answer: RequestListener = (request, response) => {
    const { url: path = '/', headers } = request
    site.requests.push({ path, headers })
    const page = site.pages[path] ?? site.other?.(path)
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(page)
  }
  const server = certificate ? createSecureServer(certificate, answer) : createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const scheme = certificate ? 'https' : 'http'
  const site: Site = {
    ...{ url: `${scheme}://127.0.0.1:${port}`, pages, requests: [], ...(other && { other }) },
    paths: () => site.requests.splice(0).map(({ path }) => path),
  }
  return site
}

export const redirect =
  (location: string, status = 302): Page =>
  (_request, response) =>
    void response.writeHead(status, { location }).end()

/** HTML with these links in a menu. */
export const html = (title: string, text: string, ...links: string[]) =>
  `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p>
  <nav>${links.map((href) => `<a href="${href}">x</a>`).join('\n')}</nav></body></html>`
