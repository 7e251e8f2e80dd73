/** Checks every answer in a test against the OpenAPI documents, and records which operations were called. */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type ErrorCode, errors } from '@loquat/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Section } from '../src/gate/operator.ts'

export interface Schema {
  $ref?: string
  type?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  [keyword: string]: unknown
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  style?: string
  explode?: boolean
  schema: Schema
}

/** An operation of the document, with its method and path. */
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
  /** The features that can be denied to its users, or why there are none. */
  features: string[]
  noFeature: string | undefined
  /** For operations of the management API: which operators may call it. */
  manage: 'public' | 'account' | Section | undefined
  sessionOnly: boolean
  parameters: Parameter[]
  body: Schema | undefined
  responses: Record<string, Schema>
}

interface Document {
  components: { schemas: Record<string, Schema> }
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
  'x-features'?: string[]
  'x-no-feature'?: string
  'x-manage'?: Operation['manage']
  'x-session-only'?: boolean
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { content?: { 'application/json': { schema: Schema } } }>
}

// `npm run check` lints the documents. Every test file compiles its schemas: to check them again, and to
// optimize code that runs a few times, would take a second each time.
const ajv = new Ajv2020({
  ...{ strict: false, validateSchema: false, inlineRefs: false },
  code: { optimize: false },
})

/** The named schemas of both documents, by their references. */
const named = new Map<string, Schema>()

/** The area that a tag is the title of: `Group members` is `group_members`. */
const areaOf = (title: string) => title.toLowerCase().replaceAll(' ', '_')

/** Reads all operations of a document; `prefix` precedes its paths on the bare host. */
function readOperations(file: string, prefix: string): Operation[] {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  // References of both documents must work in one validator.
  const { paths, components } = JSON.parse(
    text.replaceAll('"#/components/schemas/', `"${file}#/`),
  ) as Document
  ajv.addSchema(components.schemas, file)
  for (const [name, schema] of Object.entries(components.schemas))
    named.set(`${file}#/${name}`, schema)
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: prefix + path,
      operationId: operation.operationId,
      summary: operation.summary,
      tags: operation.tags.map(areaOf),
      scope: operation['x-scope'],
      users: operation['x-users'],
      onBehalfOf: operation['x-on-behalf-of'],
      rate: operation['x-rate-class'],
      features: operation['x-features'] ?? [],
      noFeature: operation['x-no-feature'],
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

/** The operations of the REST API. */
export const operations = readOperations('openapi.json', '')
const managed = readOperations('management.openapi.json', '/manage')
const isShared = ({ path }: Operation) =>
  /^\/manage\/apps\/\{appId\}\/(webhooks|moderation)(\/|$)/.test(path)
/** The operations of the management API. */
export const managementOperations = managed.filter((operation) => !isShared(operation))
/** The operations of webhooks and moderation, which both documents describe. */
export const sharedOperations = managed.filter(isShared)

/** The fields that a body can have, of all its kinds. */
export function fieldsOf({ $ref, properties = {}, anyOf = [] }: Schema): string[] {
  const inner = [...anyOf, ...($ref ? [named.get($ref) ?? {}] : [])]
  return [...new Set([...Object.keys(properties), ...inner.flatMap(fieldsOf)])]
}

/** All fields of a body with their paths, such as `rule.conditions.value`, but for those that `skip` names and their inner fields. */
export function* pathsIn(
  { $ref, ...own }: Schema,
  skip: (name: string, schema: Schema) => boolean,
  path: string[] = [],
): Generator<{ path: string; schema: Schema }> {
  const schema: Schema = $ref ? { ...named.get($ref), ...own } : own
  const name = path.at(-1) ?? ''
  if (skip(name, schema)) return
  if (name) yield { path: path.join('.'), schema }
  const {
    properties = {},
    patternProperties = {},
    additionalProperties,
    items,
    anyOf = [],
  } = schema
  for (const [inner, field] of Object.entries(properties))
    yield* pathsIn(field, skip, [...path, inner])
  const unnamed = [
    items,
    additionalProperties,
    ...Object.values(patternProperties as object),
    ...anyOf,
  ]
  for (const inner of unnamed) {
    if (typeof inner === 'object') yield* pathsIn(inner as Schema, skip, path)
  }
}

const validators = new Map<string, ReturnType<Ajv2020['compile']>>()

const parametersIn = ({ path }: Operation) => path.split('{').length

/**
 * Ignores one slash at the end; an operation with an empty id at the end has two, like one with an empty id elsewhere.
 * Like the router, it prefers a literal path to one with a parameter in the same place.
 */
const byName = [...operations, ...managed].toSorted(
  (one, other) => parametersIn(one) - parametersIn(other),
)
const patterns = byName.map((operation) => ({
  operation,
  pattern: new RegExp(
    `^${operation.path.replace(/\{\w+\}$/, '(?:[^/]+|(?=/$))').replace(/\{\w+\}/g, '[^/]*')}/?$`,
  ),
}))

/** The operation that a request matches, or undefined. */
export function operationOf(method: string, url: string): Operation | undefined {
  const path = decodePath(dataUrl(url) ?? url)
  // Each GET operation answers HEAD too.
  const read = method === 'HEAD' ? 'GET' : method
  return patterns.find(({ operation, pattern }) => operation.method === read && pattern.test(path))
    ?.operation
}

/** The REST path behind an operator's request for an app's data. */
function dataUrl(url: string): string | undefined {
  const [, rest] = /^\/manage\/apps\/[^/?#]+(\/v3\/.*)$/s.exec(url) ?? []
  return rest
}

/** Errors that an operator can get instead of an app's data. */
const OF_MANAGEMENT = [
  ...['AUTH_ERR_EMPTY_AUTH_HEADER', 'AUTH_ERR_INVALID_CREDENTIALS', 'AUTH_ERR_FOREIGN_PAGE'],
  ...['AUTH_ERR_NO_ACCESS', 'AUTH_ERR_INVALID_APPID', 'ERR_APP_NOT_FOUND'],
]

/** Decodes needless escapes, as the router does. */
function decodePath(url: string): string {
  const [path = ''] = url.split(/[?#]/)
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Fails unless the document allows the answer. */
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
  assertContent(body)
}

/** Fails if a message lacks its content. Only deleted messages do, so their schemas can't require it. */
function assertContent(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const { category, type, data, deletedAt } = value as Record<string, unknown>
  const plain = type === 'text' ? 'text' : 'attachments'
  const fields = { message: plain, custom: 'customData', interactive: 'interactiveData' }
  const field = fields[category as keyof typeof fields]
  if (field && typeof data === 'object' && data && 'entities' in data && deletedAt === undefined)
    assert.ok(field in data, `a message without ${field}: ${JSON.stringify(value)}`)
  for (const inner of Object.values(value)) assertContent(inner)
}

/** The server reads the body before it finds that the path doesn't exist. */
function assertUnknown(what: string, status: number, body: unknown, expected: number[]) {
  assert.ok(expected.includes(status), `${what} gave ${status}, and is no operation`)
  if (body === undefined) return
  const code = codeOf(body)
  assert.equal(errors[code as ErrorCode]?.status, status, `${what} gave ${status} ${code}`)
}

const codeOf = (body: unknown) => (body as { error?: { code: string } } | undefined)?.error?.code

const noted = new Set<string>()

/** For coverage.test.ts: records the answer and its test file. `-` stands for no operation. */
export function noteAnswer(operationId: string, status: number, body: unknown) {
  const file = basename(process.argv[1] ?? '')
  for (const code of ['-', ...codesWithin(body)]) {
    const line = `${operationId} ${status} ${code} ${file}\n`
    if (!process.env.LOQUAT_TEST_SEEN || noted.has(line)) continue
    noted.add(line)
    appendFileSync(process.env.LOQUAT_TEST_SEEN, line)
  }
}

/** Includes the codes for single ids in an answer, at most three levels deep. */
function codesWithin(body: unknown, depth = 0): string[] {
  if (typeof body !== 'object' || body === null || depth > 3) return []
  const own = codeOf(body)
  const inner = Object.values(body).flatMap((value) => codesWithin(value, depth + 1))
  return typeof own === 'string' ? [own, ...inner] : inner
}
