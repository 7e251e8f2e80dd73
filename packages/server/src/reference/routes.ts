import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { readApp } from '../gate/app-of-request.ts'
import { MANAGE, managedAppId } from '../gate/managed.ts'
import { CompressedTexts } from '../platform/http/compressed.ts'
import type { ApiDocument, Operation } from './document.ts'
import { recordedExamples } from './examples.ts'
import { escaped } from './html.ts'
import { type Blank, renderPage, type Site } from './page.ts'

/** The pages load nothing but their own style and script, and send nothing anywhere. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const asset = (name: string) => {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8')
  const version = createHash('sha256').update(text).digest('hex').slice(0, 8)
  return { text, url: `${name}?v=${version}` }
}

/** One of the two APIs. */
interface Api {
  prefix: string
  document: () => object
  siteFor: (reader: Reader) => Pick<Site, 'callerOf' | 'blanks' | 'links'>
  /** The address of the API as the reader sees it. */
  originFor: (reader: Reader) => string
}

/** What is known about the reader of a page. */
interface Reader {
  /** Scheme, host and port of this server, as the reader sees it. */
  address: string
  /** The same of the service as everyone sees it. */
  publicAddress: string
  /** The app; empty if unknown. */
  appId: string
  /** The host name says which app is meant. */
  ownHost: boolean
  /** The host is that of the management API. */
  manageHost: boolean
}

/** Serves both APIs as OpenAPI documents and as web pages. They are public. */
export function addReference(app: FastifyInstance, deps: Deps): void {
  const readerOf = readerFrom(deps)
  const texts = new CompressedTexts()
  const apis: Api[] = [
    {
      prefix: '/v3',
      document: () => app.swagger(),
      siteFor: siteOfApp,
      // The host of the management API has nothing but that.
      originFor: ({ address, publicAddress, manageHost }) => (manageHost ? publicAddress : address),
    },
    {
      prefix: MANAGE,
      document: () => app.managementDocument(),
      siteFor: ({ publicAddress, manageHost }) => ({
        callerOf: operatorOf,
        blanks: [],
        links: [['REST API', manageHost ? `${publicAddress}/v3/docs` : '/v3/docs']],
      }),
      originFor: ({ address, manageHost }) => (manageHost ? address : `${address}${MANAGE}`),
    },
  ]
  for (const api of apis) addPages(app, api, readerOf, texts)
}

/** Everything about the requests of an app's server. */
function siteOfApp({ appId, ownHost, manageHost }: Reader): ReturnType<Api['siteFor']> {
  const app = { id: 'app', label: 'App id', text: 'YOUR_APP_ID', value: appId && '{{appId}}' }
  const key = { id: 'key', label: 'API key', text: 'YOUR_API_KEY' }
  const blanks: Blank[] = ownHost ? [key] : [app, key]
  const headers = { ...(!ownHost && { appId: app.text }), apikey: key.text }
  return {
    callerOf: () => ({ origin: '{{origin}}', headers }),
    blanks,
    links: [['Management API', manageHost ? '/docs' : `${MANAGE}/docs`]],
  }
}

/** What an operator sends. */
function operatorOf({ security = [], 'x-session-only': sessionOnly }: Operation) {
  const session = { cookie: '__Host-loquat_session=YOUR_SESSION' }
  const key = { key: 'YOUR_KEY', secret: 'YOUR_SECRET' }
  return {
    origin: '{{origin}}',
    headers: security.length === 0 ? {} : sessionOnly ? session : key,
  }
}

function addPages(
  app: FastifyInstance,
  { prefix, document, siteFor, originFor }: Api,
  readerOf: (request: FastifyRequest) => Reader,
  texts: CompressedTexts,
): void {
  const style = asset('reference.css')
  const script = asset('reference.js')
  const files = { [`${prefix}/docs/reference.css`]: style, [`${prefix}/docs/reference.js`]: script }
  const schema = { hide: true }
  for (const [path, { text }] of Object.entries(files)) {
    const type = path.endsWith('.css') ? 'text/css' : 'text/javascript'
    app.get(path, { schema, logLevel: 'silent' }, async (request, reply) => {
      reply.headers({ ...HEADERS, 'cache-control': 'public, max-age=31536000, immutable' })
      return texts.send(request, reply, { key: path, type, text: () => text })
    })
  }

  app.get(`${prefix}/openapi.json`, { schema }, async (request, reply) => {
    const reader = readerOf(request)
    const text = () => JSON.stringify(servedAt(originFor(reader), document() as ApiDocument))
    const key = `${prefix}/openapi.json ${originFor(reader)}`
    return texts.send(request, reply, { key, type: 'application/json', text })
  })

  const rendered = new Map<string, string>()
  /** The same for all readers with the same kind of host: rendering takes ten times as long as filling in the rest. */
  const render = (reader: Reader, id: string): string | undefined => {
    const key = JSON.stringify([id, reader.appId !== '', reader.ownHost, reader.manageHost])
    const known = rendered.get(key)
    if (known !== undefined) return known
    const site = {
      document: document() as ApiDocument,
      examples: recordedExamples(),
      assets: { style: style.url, script: script.url },
      ...siteFor(reader),
    }
    const page = renderPage(site, id)
    if (page !== undefined) rendered.set(key, page)
    return page
  }

  const show = async (request: FastifyRequest, reply: FastifyReply, id: string) => {
    const reader = readerOf(request)
    const [docs = ''] = /^[^?]*?\/docs(?=[/?]|$)/.exec(request.originalUrl) ?? []
    const page = () =>
      render(reader, id)
        ?.replaceAll('{{docs}}', escaped(docs))
        .replaceAll('{{openapi}}', escaped(docs.replace(/docs$/, 'openapi.json')))
        .replaceAll('{{origin}}', escaped(originFor(reader)))
        .replaceAll('{{appId}}', reader.appId)
    reply.headers({ ...HEADERS, 'cache-control': 'no-cache' })
    const key = JSON.stringify([prefix, id, docs, reader])
    return texts.send(request, reply, { key, type: 'text/html', text: page })
  }
  app.get(`${prefix}/docs`, { schema, logLevel: 'silent' }, (request, reply) =>
    show(request, reply, ''),
  )
  app.get<{ Params: { area: string } }>(
    `${prefix}/docs/:area`,
    { schema, logLevel: 'silent' },
    (request, reply) => show(request, reply, request.params.area),
  )
}

/** The document with this server as the first one. */
const servedAt = (url: string, document: ApiDocument): ApiDocument => ({
  ...document,
  servers: [{ url, description: 'This server.' }, ...(document.servers ?? [])],
})

/** A host name or address, with or without port, that is safe to show. */
const HOST = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/**
 * The reader reached this server by the host of the request, so their requests reach it too. The app is known by that
 * host, by the path of the management API, or by `?appId=`.
 */
function readerFrom({ config }: Deps): (request: FastifyRequest) => Reader {
  const { protocol, hostname, host: publicHost } = new URL(config.service.publicUrl)
  return (request) => {
    const { host = '' } = request.headers
    const named = readApp({ host }, hostname).appId
    const managed = managedAppId(request, hostname) ?? ''
    const { appId: asked } = request.query as { appId?: unknown }
    const appId = [named, managed, asked].find(isAppId) ?? ''
    return {
      address: `${protocol}//${HOST.test(host) ? host.toLowerCase() : publicHost}`,
      publicAddress: `${protocol}//${publicHost}`,
      appId,
      ownHost: named !== '',
      manageHost: host.toLowerCase().replace(/:\d+$/, '') === `manage.${hostname}`,
    }
  }
}

const isAppId = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9]{1,50}$/i.test(value)
