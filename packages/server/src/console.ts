import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'

/** Built by `npm run build`. Without these files, the console is not served. */
const BUILT = fileURLToPath(new URL('../../console/dist/', import.meta.url))

/** Allows only our own scripts and styles. Users' pictures may come from other hosts; uploads go to `files` only. */
const headersFor = (files: string) => ({
  'content-security-policy': [
    "default-src 'self'",
    `connect-src 'self' ${files}`,
    `img-src 'self' https: data: ${files}`,
    `media-src 'self' https: ${files}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
})

/** Shows the email that the console posts to it, and answers with its height. */
const FRAME_SCRIPT = `addEventListener('message', ({ source, data }) => {
  if (source !== parent || typeof data !== 'string') return
  document.documentElement.innerHTML = data
  for (const link of document.links) link.removeAttribute('href')
  const tell = () => parent.postMessage(document.documentElement.scrollHeight, '*')
  tell()
  for (const image of document.images) image.addEventListener('load', tell)
})`
const FRAME = `<!doctype html><meta charset="utf-8"><title>Email</title><script>${FRAME_SCRIPT}</script>`
/** The email's own styles, pictures of other hosts, no script but ours, and no origin. */
const FRAME_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src https: data:',
    `script-src 'sha256-${createHash('sha256').update(FRAME_SCRIPT).digest('base64')}'`,
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
}

export interface ConsoleOptions {
  /** The path of the management API. */
  manage: string
  /** The origins of files, separated by spaces. */
  files: string
  built?: string | undefined
}

/** Serves the console's files below the management API, so that both have the same origin. */
export async function addConsole(
  app: FastifyInstance,
  { manage, files: origins, built = BUILT }: ConsoleOptions,
): Promise<void> {
  if (!existsSync(built)) return
  const headers = headersFor(origins)
  const pages: FastifyPluginAsync = async (scope) => {
    await scope.register(files, {
      root: built,
      prefix: `${manage}/console/`,
      cacheControl: false,
      // The build writes every file compressed too. None of them holds a secret.
      preCompressed: true,
      setHeaders(reply, path) {
        for (const [name, value] of Object.entries(headers)) reply.header(name, value)
        // All file names except the page's contain a hash of the content.
        const page = /\.html(\.br|\.gz)?$/.test(path)
        reply.header('cache-control', page ? 'no-cache' : 'public, max-age=31536000, immutable')
      },
    })
    // The page loads files with relative URLs, so its own URL has to end with a slash.
    const schema = { hide: true }
    scope.get(`${manage}/console`, { schema }, async (request, reply) =>
      endsOpen(request) ? reply.sendFile('index.html') : reply.redirect('console/'),
    )
    scope.get(`${manage}/console/email-frame`, { schema }, (_request, reply) =>
      reply.headers(FRAME_HEADERS).send(FRAME),
    )
    scope.get(manage, { schema }, async (request, reply) =>
      reply.redirect(endsOpen(request) ? 'console/' : `${manage.slice(1)}/console/`),
    )
  }
  await app.register(pages)
}

const endsOpen = ({ originalUrl }: FastifyRequest) => /^[^?]*\/(\?|$)/.test(originalUrl)
