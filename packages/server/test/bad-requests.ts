/** Makes bad requests out of one that succeeds. */
import { METHODS } from 'node:http'
import fc from 'fast-check'
import { fieldsOf, type Operation } from './conformity.ts'
import * as difficult from './difficult-values.ts'
import { headersOf, pathOf, type ValidRequest } from './resources.ts'

/** A request as it goes over the wire. */
export interface Wire {
  method: string
  path: string
  query: string
  headers: Record<string, string | string[]>
  payload: string | Buffer | undefined
}

/** One difference between a request and the valid one. */
export type Change =
  | { at: 'field'; field: string; value: unknown }
  | { at: 'payload'; edit: string }
  | { at: 'param'; name: string; value: string }
  | { at: 'path'; edit: string }
  | { at: 'query'; name: string; edit: string; value: string }
  | { at: 'header'; name: string; value: string | string[] | null }
  | { at: 'method'; method: string }

export function toWire(request: ValidRequest, credentials: Record<string, string>): Wire {
  const { operation, query, body } = request
  return {
    method: operation.method,
    path: pathOf(request),
    query: new URLSearchParams(query).toString(),
    headers: {
      ...credentials,
      ...headersOf(request),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    payload: body === undefined ? undefined : JSON.stringify(body),
  }
}

export const urlOf = ({ path, query }: Wire) => path + (query && `?${query}`)

const payloadEdits: Record<string, (text: string) => string | Buffer | undefined> = {
  none: () => undefined,
  empty: () => '',
  space: () => ' ',
  null: () => 'null',
  text: () => '"text"',
  number: () => '1e999',
  list: (text) => `[${text}]`,
  'cut off': (text) => text.slice(0, -2),
  'cut in half': (text) => text.slice(0, text.length / 2),
  twice: (text) => text + text,
  'comma at the end': (text) => text.replace(/\}$/, ',}'),
  'single quotes': (text) => text.replaceAll('"', "'"),
  NaN: (text) => text.replace(/:[^,}]+/, ':NaN'),
  'byte order mark': (text) => `\ufeff${text}`,
  'spaces around': (text) => ` \r\n${text}\t`,
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
  'not UTF-8': (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xc3, 0x28])]),
  'a field twice': (text) => text.replace(/\{(.*)\}$/, '{$1,$1}'),
  'a key __proto__': (text) => text.replace('{', '{"__proto__":{"scope":"fullAccess"},'),
  'a key constructor': (text) => text.replace('{', '{"constructor":{"prototype":{"a":1}},'),
  'an unknown field': (text) => text.replace('{', '{"unknown":[{}],'),
  'an unknown field without a value': (text) => text.replace('{', '{"unknown":null,'),
  'nothing but an unknown field': () => '{"unknown":null}',
  '12 KB in a field': (text) => text.replace('{', `{"unknown":"${'x'.repeat(12_000)}",`),
  '12 KB of spaces': (text) => text + ' '.repeat(12_000),
  '5,000 levels': () => '['.repeat(5_000) + ']'.repeat(5_000),
  // For operations that accept larger bodies than others.
  '30,000 levels': (text) =>
    text.replace('{', `{"unknown":${'['.repeat(30_000)}${']'.repeat(30_000)},`),
  '1,500 levels in a field': (text) =>
    text.replace('{', `{"unknown":${'{"a":'.repeat(1_500)}1${'}'.repeat(1_500)},`),
}

const pathEdits: Record<string, (path: string) => string> = {
  'slash at the end': (path) => `${path}/`,
  'two slashes at the end': (path) => `${path}//`,
  'two slashes at the start': (path) => `/${path}`,
  'two slashes inside': (path) => path.replace('/v3/', '/v3//'),
  'another version': (path) => path.replace('/v3/', '/v9/'),
  'no version': (path) => path.replace('/v3/', '/'),
  'upper case': (path) => path.toUpperCase(),
  'one more part': (path) => `${path}/more`,
  'a part less': (path) => path.slice(0, path.lastIndexOf('/')) || '/',
  'dots inside': (path) => path.replace('/v3/', '/v3/x/../'),
  'escaped letters': (path) => path.replace(/[a-z](?=[a-z]*$)/, escapeChar),
  'escaped slash': (path) => path.replace('/v3/', '/v3%2F'),
  semicolon: (path) => `${path};a=b`,
  '5,000 letters': (path) => path + 'x'.repeat(5_000),
  '300 parts': (path) => path + '/x'.repeat(300),
}

const escapeChar = (char: string) => `%${char.charCodeAt(0).toString(16)}`

const queryEdits: Record<string, (name: string, value: string) => string> = {
  value: (name, value) => `${name}=${value}`,
  twice: (name, value) => `${name}=${value}&${name}=${value}`,
  list: (name, value) => `${name}[]=${value}`,
  object: (name, value) => `${name}[a]=${value}`,
  'no value': (name) => name,
  'two equal signs': (name, value) => `${name}==${value}`,
  'empty parts': (name, value) => `&&=&${name}=${value}&=&`,
  '500 of them': (name, value) => `${name}=${value}&`.repeat(value.length > 20 ? 2 : 500),
}

const keyOf = (edits: object) => fc.constantFrom(...Object.keys(edits))

const HEADERS = [
  ...['apikey', 'appid', 'onbehalfof', 'idempotency-key', 'content-type', 'host', 'accept'],
  ...['x-request-id', 'content-encoding', 'accept-encoding', 'accept-version', 'range', 'cookie'],
  ...['if-none-match', 'expect', 'te', 'x-forwarded-for', 'x-forwarded-host', 'traceparent'],
  ...['x-http-method-override', 'authorization', 'authtoken', 'access-control-request-method'],
]
const CONTENT_TYPES = [
  ...['text/plain', 'application/xml', 'multipart/form-data; boundary=a', 'application/jsonp'],
  ...['application/json; charset=utf-16', 'application/json;;', 'APPLICATION/JSON', 'json', '/'],
  ...['application/json, text/plain', 'application/x-www-form-urlencoded', '*/*', '__proto__'],
]

const header = fc.oneof(
  fc.record({
    name: fc.constantFrom(...HEADERS),
    value: fc.oneof(
      difficult.headerValue,
      fc.constant(null),
      fc.tuple(difficult.headerValue, difficult.headerValue),
    ),
  }),
  fc.record({ name: fc.constant('content-type'), value: fc.constantFrom(...CONTENT_TYPES) }),
)

/** Node handles CONNECT in an event of its own, so it never reaches Fastify. */
const methods = METHODS.filter((method) => method !== 'CONNECT')

/** Any single change that makes sense for the operation. */
export function changes({ parameters, body }: Operation): fc.Arbitrary<Change> {
  const named = (place: string) =>
    parameters.filter((parameter) => parameter.in === place).map(({ name }) => name)
  const fields = fieldsOf(body ?? {})
  const params = named('path')
  const field = fc.record({ field: fc.constantFrom(...fields, 'unknown'), value: difficult.json })
  const query = fc.record({
    name: fc.constantFrom(...named('query'), 'unknown', '__proto__'),
    edit: keyOf(queryEdits),
    value: difficult.escaped,
  })
  const param = fc.record({ name: fc.constantFrom(...params, ''), value: difficult.escaped })
  const method = fc.constantFrom(...methods)
  return fc.oneof(
    { weight: body ? 8 : 1, arbitrary: field.map((given) => ({ at: 'field', ...given }) as const) },
    {
      weight: body ? 4 : 1,
      arbitrary: keyOf(payloadEdits).map((edit) => ({ at: 'payload', edit }) as const),
    },
    {
      weight: params.length > 0 ? 4 : 0,
      arbitrary: param.map((given) => ({ at: 'param', ...given }) as const),
    },
    { weight: 2, arbitrary: keyOf(pathEdits).map((edit) => ({ at: 'path', edit }) as const) },
    {
      weight: named('query').length > 0 ? 6 : 1,
      arbitrary: query.map((given) => ({ at: 'query', ...given }) as const),
    },
    { weight: 3, arbitrary: header.map((given) => ({ at: 'header', ...given }) as const) },
    { weight: 1, arbitrary: method.map((given) => ({ at: 'method', method: given }) as const) },
  )
}

/** Two thirds differ from a valid request in exactly one place, the others in up to five. */
export const badRequest = (operation: Operation): fc.Arbitrary<Change[]> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.array(changes(operation), { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(changes(operation), { minLength: 2, maxLength: 5 }) },
  )

/** Applies a change to the valid request. */
export function change(wire: Wire, made: Change, ids: ValidRequest['ids']): Wire {
  switch (made.at) {
    case 'field':
      return { ...wire, ...withField(wire, made.field, made.value) }
    case 'payload':
      return { ...wire, payload: payloadEdits[made.edit]?.(String(wire.payload ?? '{}')) }
    case 'param':
      return { ...wire, path: wire.path.replace(ids[made.name] ?? '', () => made.value) }
    case 'path':
      return { ...wire, path: pathEdits[made.edit]?.(wire.path) ?? wire.path }
    case 'query':
      return { ...wire, query: withQuery(wire.query, made) }
    case 'header':
      return { ...wire, headers: withHeader(wire.headers, made.name, made.value) }
    case 'method':
      return { ...wire, method: made.method }
  }
}

function withField({ headers, payload }: Wire, field: string, value: unknown): Partial<Wire> {
  try {
    const body: unknown = JSON.parse(String(payload ?? '{}'))
    return {
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(typeof body === 'object' ? { ...body, [field]: value } : value),
    }
  } catch {
    // An earlier change left invalid JSON, or too many levels to serialize.
    return {}
  }
}

function withQuery(query: string, made: Extract<Change, { at: 'query' }>): string {
  const kept = query.split('&').filter((part) => part && !part.startsWith(`${made.name}=`))
  const added = queryEdits[made.edit]?.(made.name, made.value)
  return [...kept, added].join('&')
}

function withHeader(headers: Wire['headers'], name: string, value: string | string[] | null) {
  const { [name]: _, ...rest } = headers
  return value === null ? rest : { ...rest, [name]: value }
}
