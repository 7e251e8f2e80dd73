/** Checks every answer that any test gets against openapi.json, and notes which operations were called. */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'

interface Schema {
  properties?: Record<string, Schema>
  [keyword: string]: unknown
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}

/** An operation of the document, with where it stands. */
export interface Operation {
  method: string
  path: string
  operationId: string
  tags: string[]
  parameters: Parameter[]
  body: Schema | undefined
  responses: Record<string, Schema>
}

const file = new URL('../openapi.json', import.meta.url)

interface Document {
  paths: Record<string, Record<string, DocumentOperation>>
}

interface DocumentOperation {
  operationId: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { content?: { 'application/json': { schema: Schema } } }>
}

export const operations: Operation[] = Object.entries(
  (JSON.parse(readFileSync(file, 'utf8')) as Document).paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operationId: operation.operationId,
    tags: operation.tags,
    parameters: operation.parameters ?? [],
    body: operation.requestBody?.content['application/json'].schema,
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, { content }]) => [
        status,
        content?.['application/json'].schema ?? {},
      ]),
    ),
  })),
)

const ajv = new Ajv2020({ strict: false, allErrors: true })
const validators = new Map<string, ReturnType<Ajv2020['compile']>>()

const patterns = operations.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
}))

/** The operation that a request is for; undefined when there is none. */
export function operationOf(method: string, url: string): Operation | undefined {
  const path = url.split('?')[0] ?? ''
  return patterns.find(
    ({ operation, pattern }) => operation.method === method && pattern.test(path),
  )?.operation
}

/** Fails unless the answer is one that the document allows. */
export function assertConforms(method: string, url: string, status: number, body: unknown) {
  const operation = operationOf(method, url)
  if (!operation) {
    assert.ok(
      status === 404 || status === 400,
      `${method} ${url} gave ${status}, and is no operation`,
    )
    return
  }
  const { operationId, responses } = operation
  const schema = responses[status]
  assert.ok(
    schema,
    `${operationId} gave ${status}, which it does not declare: ${JSON.stringify(body)}`,
  )
  const key = `${operationId} ${status}`
  const validate = validators.get(key) ?? ajv.compile(schema)
  validators.set(key, validate)
  const why = () => `${key}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`
  assert.ok(validate(body), why())
  const code = (body as { error?: { code: string } }).error?.code ?? ''
  if (process.env.LOQUAT_TEST_SEEN) {
    appendFileSync(process.env.LOQUAT_TEST_SEEN, `${operationId} ${status} ${code}\n`)
  }
}
