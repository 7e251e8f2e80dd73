import swagger from '@fastify/swagger'
import reference from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'

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
  await app.register(reference, {
    routePrefix: `${prefix}/docs`,
    logLevel: 'silent',
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
}
