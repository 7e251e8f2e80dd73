/** The part of an OpenAPI document that the generator reads. */
import { methodOf, namespaceOf } from './names.ts'
import type { Schema } from './types.ts'

export interface Document {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, DocumentOperation>>
}

interface Content {
  content?: Record<string, { schema: Schema }>
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}

interface DocumentOperation {
  operationId: string
  summary: string
  description?: string
  deprecated?: boolean
  tags: string[]
  'x-users'?: boolean | 'self'
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content>
}

/** An operation, as far as its method in the SDK needs it. */
export interface Operation {
  operationId: string
  /** The method is called as `client.namespace.name()`. */
  namespace: string
  name: string
  /** Whether users may call it with an auth token. */
  users: boolean
  /** For the doc comment. */
  summary: string
  deprecation: string | undefined
  method: string
  url: string
  /** Path parameters, in the order of the path. */
  ids: Parameter[]
  query: Schema | undefined
  body: Schema | undefined
  answer: Schema
}

export function readOperations({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, operation]) => readOperation(url, method, operation)),
  )
}

function readOperation(url: string, method: string, operation: DocumentOperation): Operation {
  const { operationId, summary, tags, parameters = [] } = operation
  const [tag = ''] = tags
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  return {
    operationId,
    namespace: namespaceOf(tag),
    name: methodOf(operationId, tag),
    users: Boolean(operation['x-users']),
    summary,
    deprecation: operation.deprecated ? operation.description : undefined,
    method: method.toUpperCase(),
    url,
    ids: inPath.toSorted((one, two) => url.indexOf(`{${one.name}}`) - url.indexOf(`{${two.name}}`)),
    query: queryOf(parameters.filter((parameter) => parameter.in === 'query')),
    body: operation.requestBody && jsonOf(operationId, operation.requestBody),
    answer: answerOf(operation),
  }
}

function queryOf(parameters: Parameter[]): Schema | undefined {
  if (parameters.length === 0) return undefined
  const required = parameters.filter((parameter) => parameter.required)
  return {
    type: 'object',
    required: required.map(({ name }) => name),
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description = '' }) => [name, { ...schema, description }]),
    ),
  }
}

function answerOf({ operationId, responses }: DocumentOperation): Schema {
  const [success, ...others] = Object.keys(responses).filter((status) => status.startsWith('2'))
  if (success && others.length === 0) return jsonOf(operationId, responses[success] ?? {})
  throw new Error(
    `${operationId} must declare exactly one 2xx response. Declare one, or extend the SDK generator.`,
  )
}

function jsonOf(operationId: string, { content }: Content): Schema {
  const schema = content?.['application/json']?.schema
  if (schema) return schema
  throw new Error(
    `${operationId} has a request or response that isn't JSON. Extend the SDK generator to support it.`,
  )
}
