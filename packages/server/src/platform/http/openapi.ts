import swagger from '@fastify/swagger'
import reference from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'

type TransformObject = NonNullable<swagger.FastifyDynamicSwaggerOptions['transformObject']>

/** Collects the routes registered after it; `app.swagger()` then gives the document. */
export async function addOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Loquat',
        version: '3',
        description: 'The REST interface of the chat platform, for server applications.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [
        {
          url: 'https://{appId}.api-{region}.{host}',
          variables: {
            appId: { default: 'app', description: 'The id of the app.' },
            region: { default: 'us', enum: ['us', 'eu', 'in'] },
            host: { default: 'example.com', description: 'The host of the service.' },
          },
        },
      ],
      components: {
        securitySchemes: {
          apikey: { type: 'apiKey', in: 'header', name: 'apikey' },
          authToken: { type: 'apiKey', in: 'header', name: 'authToken' },
        },
      },
    },
    transformObject: withoutNeedlessParameters,
  })
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
