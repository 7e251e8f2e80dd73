import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import { lazily } from './lazily.ts'

type TransformObject = NonNullable<swagger.FastifyDynamicSwaggerOptions['transformObject']>

/** One of the documents that are made from the routes. */
export interface DocumentOptions {
  /** Under which name the document is had from the server: `app.name()`. */
  decorator: 'swagger' | 'managementDocument'
  /** Only routes below it are in the document. */
  prefix: string
  /** Whether the prefix is part of the server's address, not of the paths. */
  stripped: boolean
  openapi: NonNullable<swagger.FastifyDynamicSwaggerOptions['openapi']>
}

declare module 'fastify' {
  interface FastifyInstance {
    managementDocument(): object
  }
}

/** Collects the routes registered after it. */
export async function addOpenApi(app: FastifyInstance, options: DocumentOptions): Promise<void> {
  const { decorator, prefix, stripped, openapi } = options
  await app.register(swagger, {
    decorator,
    openapi: { openapi: '3.1.0', ...openapi },
    transform: ({ schema, url }) => {
      const own = url.startsWith(`${prefix}/`)
      return {
        schema: own ? schema : { hide: true },
        url: own && stripped ? url.slice(prefix.length) : url,
      }
    },
    transformObject: withoutNeedlessParameters,
  } as swagger.SwaggerOptions)
}

/** What has a default need not be sent, though handlers can count on it. */
const withoutNeedlessParameters: TransformObject = (given) => {
  if (!('openapiObject' in given)) return given.swaggerObject
  const document = given.openapiObject
  for (const path of Object.values(document.paths ?? {})) {
    for (const method of ['get', 'put', 'post', 'patch', 'delete'] as const) {
      for (const parameter of path?.[method]?.parameters ?? []) {
        if (!('schema' in parameter) || !parameter.schema || !('default' in parameter.schema))
          continue
        parameter.required = false
      }
    }
  }
  return document
}

/** The document as a page to read, and as the file it is made from. Nothing is loaded from elsewhere. */
export async function addReference(app: FastifyInstance, prefix: `/${string}`): Promise<void> {
  app.get(`${prefix}/openapi.json`, { schema: { hide: true } }, async () => app.swagger())
  const page = lazily(() => openReference(prefix))
  for (const path of [`${prefix}/docs`, `${prefix}/docs/js/scalar.js`]) {
    app.get(path, { schema: { hide: true }, logLevel: 'silent' }, async (request, reply) => {
      const { routing } = await page()
      reply.hijack()
      routing(request.raw, reply.raw)
    })
  }
}

/** A server of its own, when somebody reads it: the page is megabytes of script, a third of a second of every start. */
async function openReference(prefix: `/${string}`): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const server = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
  await server.register(reference, {
    routePrefix: `${prefix}/docs`,
    configuration: {
      url: `${prefix}/openapi.json`,
      pageTitle: 'Loquat',
      withDefaultFonts: false,
      hideClientButton: true,
      hideTestRequestButton: true,
      telemetry: false,
      // Buttons that lead to services of the page's makers.
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  await server.ready()
  return server
}
