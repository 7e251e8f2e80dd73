/** Checks every answer that any test gets against the OpenAPI documents, and notes which operations were called. */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type ErrorCode, errors } from '@loquat/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Section } from '../src/gate/operator.ts'

export interface Schema {
  type?: string
  properties?: Record<string, Schema>
  [keyword: string]: unknown
}

export interface Parameter {
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
  summary: string
  tags: string[]
  scope: 'authOnly' | 'fullAccess'
  users: boolean | 'self'
  onBehalfOf: 'required' | 'optional' | 'ignored'
  rate: string
  /** Of operations of the management interface: who may call it. */
  manage: 'public' | 'account' | Section | undefined
  sessionOnly: boolean
  parameters: Parameter[]
  body: Schema | undefined
  responses: Record<string, Schema>
}

interface Document {
  paths: Record<string, Record<string, DocumentOperation>>
}

interface DocumentOperation {
  operationId: string
  summary: string
  tags: string[]
  'x-scope': Operation['scope']
  'x-users': Operation['users']
  'x-on-behalf-of': Operation['onBehalfOf']
  'x-rate-class': string
  'x-manage'?: Operation['manage']
  'x-session-only'?: boolean
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { content?: { 'application/json': { schema: Schema } } }>
}

/** All of a document, with what stands before its paths on the bare host. */
function readOperations(file: string, prefix: string): Operation[] {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  const { paths } = JSON.parse(text) as Document
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: prefix + path,
      operationId: operation.operationId,
      summary: operation.summary,
      tags: operation.tags,
      scope: operation['x-scope'],
      users: operation['x-users'],
      onBehalfOf: operation['x-on-behalf-of'],
      rate: operation['x-rate-class'],
      manage: operation['x-manage'],
      sessionOnly: operation['x-session-only'] ?? false,
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
}

/** The operations of the REST interface. */
export const operations = readOperations('openapi.json', '')
/** Those of the management interface. */
export const managementOperations = readOperations('management.openapi.json', '/manage')

// `npm run check` lints the documents. Every test file compiles its schemas: to check them again, and to
// optimize code that runs a few times, would take a second each time.
const ajv = new Ajv2020({
  ...{ strict: false, allErrors: true },
  ...{ validateSchema: false, code: { optimize: false } },
})
const validators = new Map<string, ReturnType<Ajv2020['compile']>>()

const parametersIn = ({ path }: Operation) => path.split('{').length

/**
 * One slash at the end is none: an operation with an empty id at the end has two. As for the router, a
 * path goes before one that has a parameter in its place.
 */
const byName = [...operations, ...managementOperations].toSorted(
  (one, other) => parametersIn(one) - parametersIn(other),
)
const patterns = byName.map((operation) => ({
  operation,
  pattern: new RegExp(
    `^${operation.path.replace(/\{\w+\}$/, '(?:[^/]+|(?=/$))').replace(/\{\w+\}/g, '[^/]+')}/?$`,
  ),
}))

/** The operation that a request is for; undefined when there is none. */
export function operationOf(method: string, url: string): Operation | undefined {
  const path = decodePath(dataUrl(url) ?? url)
  // Each GET answers HEAD too.
  const read = method === 'HEAD' ? 'GET' : method
  return patterns.find(({ operation, pattern }) => operation.method === read && pattern.test(path))
    ?.operation
}

/** An operator's request for data of an app is one for the operation of the REST interface. */
function dataUrl(url: string): string | undefined {
  const [, rest] = /^\/manage\/apps\/[^/?#]+\/(v3\/.*|webhooks(?:[/?#].*)?)$/s.exec(url) ?? []
  return rest === undefined ? undefined : `/${rest.replace(/^webhooks/, 'v3/webhooks')}`
}

/** What stands between an operator and the data of an app. */
const OF_MANAGEMENT = [
  ...['AUTH_ERR_EMPTY_AUTH_HEADER', 'AUTH_ERR_INVALID_CREDENTIALS', 'AUTH_ERR_FOREIGN_PAGE'],
  ...['AUTH_ERR_NO_ACCESS', 'AUTH_ERR_INVALID_APPID', 'ERR_APP_NOT_FOUND'],
]

/** As the router does: what is escaped needlessly still finds its operation. */
function decodePath(url: string): string {
  const [path = ''] = url.split(/[?#]/)
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Fails unless the answer is one that the document allows. */
export function assertConforms(method: string, url: string, status: number, body: unknown) {
  const operation = operationOf(method, url)
  const refused = dataUrl(url) !== undefined && OF_MANAGEMENT.includes(codeOf(body) ?? '')
  if (operation && !refused) assertDeclared(operation, status, method === 'HEAD' ? undefined : body)
  else assertUnknown(`${method} ${url}`, status, body, refused ? [401, 403, 404] : [400, 404, 413])
  noteAnswer(operation?.operationId ?? '-', status, body)
}

function assertDeclared({ operationId, responses }: Operation, status: number, body: unknown) {
  const schema = responses[status]
  assert.ok(
    schema,
    `${operationId} gave ${status}, which it does not declare: ${JSON.stringify(body)}`,
  )
  if (body === undefined) return
  const key = `${operationId} ${status}`
  const validate = validators.get(key) ?? ajv.compile(schema)
  validators.set(key, validate)
  const why = () => `${key}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`
  assert.ok(validate(body), why())
}

/** A body is read before the path is found to be none. */
function assertUnknown(what: string, status: number, body: unknown, expected: number[]) {
  assert.ok(expected.includes(status), `${what} gave ${status}, and is no operation`)
  if (body === undefined) return
  const code = codeOf(body)
  assert.equal(errors[code as ErrorCode]?.status, status, `${what} gave ${status} ${code}`)
}

const codeOf = (body: unknown) => (body as { error?: { code: string } } | undefined)?.error?.code

const noted = new Set<string>()

/** For coverage.test.ts: what was answered, in which test file. `-` is no operation. */
export function noteAnswer(operationId: string, status: number, body: unknown) {
  const file = basename(process.argv[1] ?? '')
  for (const code of ['-', ...codesWithin(body)]) {
    const line = `${operationId} ${status} ${code} ${file}\n`
    if (!process.env.LOQUAT_TEST_SEEN || noted.has(line)) continue
    noted.add(line)
    appendFileSync(process.env.LOQUAT_TEST_SEEN, line)
  }
}

/** Also those that an answer tells for one id among several, at most three levels down. */
function codesWithin(body: unknown, depth = 0): string[] {
  if (typeof body !== 'object' || body === null || depth > 3) return []
  const own = codeOf(body)
  const inner = Object.values(body).flatMap((value) => codesWithin(value, depth + 1))
  return typeof own === 'string' ? [own, ...inner] : inner
}
