import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { Components } from './components.ts'

type TransformObject = NonNullable<swagger.FastifyDynamicSwaggerOptions['transformObject']>

/** A route as a document describes it. */
export interface DescribedRoute {
  schema: FastifySchema
  url: string
  route: RouteOptions
}

/** One of the OpenAPI documents that are generated from the routes. */
export interface DocumentOptions {
  /** The name of the decorator that returns the document: `app.name()`. */
  decorator: string
  /** The document only contains routes below this path. */
  prefix: string
  /** Whether the prefix is part of the server's URL instead of the paths. */
  stripped: boolean
  /** Describes a route below another path that this API also offers. Undefined: it doesn't. */
  also?: (route: DescribedRoute) => Omit<DescribedRoute, 'route'> | undefined
  /** Changes the document once all routes are in it. */
  complete: (document: object) => void
  openapi: NonNullable<swagger.FastifyDynamicSwaggerOptions['openapi']>
  /** Named schemas that the document describes in more detail than the routes. */
  documented: Record<string, object>
}

/** Collects the routes that are registered after it. */
export async function addOpenApi(app: FastifyInstance, options: DocumentOptions): Promise<void> {
  const { decorator, prefix, stripped, also, complete, openapi, documented } = options
  await app.register(swagger, {
    decorator,
    openapi: { openapi: '3.1.0', ...openapi },
    transform: ({ schema, url, route }) => {
      const own = url.startsWith(`${prefix}/`)
      if (own) return { schema, url: stripped ? url.slice(prefix.length) : url }
      return also?.({ schema, url, route }) ?? { schema: { hide: true }, url }
    },
    transformObject: (given) => {
      const document = withComponents(describeParameters(given), documented)
      complete(document)
      return document
    },
  } as swagger.SwaggerOptions)
}

/**
 * Marks parameters with a default as optional for callers, although handlers always get a value. Lists are sent as
 * `name=a,b`: without `explode: false`, generated clients would choose other forms.
 */
const describeParameters: TransformObject = (given) => {
  if (!('openapiObject' in given)) return given.swaggerObject
  const document = given.openapiObject
  for (const path of Object.values(document.paths ?? {})) {
    for (const method of ['get', 'put', 'post', 'patch', 'delete'] as const) {
      addForm(path?.[method])
      for (const parameter of path?.[method]?.parameters ?? []) {
        if (!('schema' in parameter) || !parameter.schema) continue
        if ('default' in parameter.schema) parameter.required = false
        if ('type' in parameter.schema && parameter.schema.type === 'array')
          Object.assign(parameter, { style: 'form', explode: false })
      }
    }
  }
  return document
}

/** A route says with `x-form` that its body can also be a form. */
function addForm(operation: object | undefined): void {
  const { 'x-form': schema, requestBody } = (operation ?? {}) as {
    'x-form'?: object
    requestBody?: { content: Record<string, object> }
  }
  if (!operation || !schema || !requestBody) return
  requestBody.content['multipart/form-data'] = { schema }
  Reflect.deleteProperty(operation, 'x-form')
}

type Document = ReturnType<TransformObject>

/** Lists every named schema once. */
function withComponents(document: Document, documented: Record<string, object>): Document {
  const components = new Components(documented)
  const paths = components.refer(document.paths)
  const others = 'components' in document ? document.components : {}
  return { ...document, components: { ...others, schemas: components.schemas }, paths } as Document
}
