/** Prints the methods of an operation. */
import type { Declarations } from './declarations.ts'
import type { Operation } from './document.ts'
import { capitalized } from './names.ts'
import { comment, nameOf, type Schema, typeOf } from './types.ts'

export interface Method {
  operationId: string
  namespace: string
  name: string
  /** Whether users may call it. */
  users: boolean
  code: string
  /** For the reference: the signature, what the method does, and the request it sends. */
  signature: string
  summary: string
  request: string
}

/** The parts of a method. */
interface Parts {
  name: string
  /** Added to the summary of the operation in the doc comment. */
  note?: string
  parameters: string[]
  returns: string
  body: string
}

/** The methods of an operation. A list also gets methods that iterate over all pages and that only count. */
export function methodsOf(operation: Operation, declarations: Declarations): Method[] {
  const { operationId, namespace, users, method, url } = operation
  const { items, count } = answersOf(operation.answer, declarations)
  const methods = items
    ? listMethods(operation, items, count, declarations)
    : followedMethods(operation, declarations)
  return methods.map((parts) => {
    const { name, note = '', parameters, returns } = parts
    const signature = `${name}(${parameters.join(', ')}): ${returns}`
    const summary = `${operation.summary}${note}`
    const code = print(operation, parts)
    const request = `${method} ${url}`
    return { operationId, namespace, name, users, code, signature, summary, request }
  })
}

function print({ summary, deprecation }: Operation, parts: Parts): string {
  const { name, note = '', parameters, returns, body } = parts
  // Async, so that an invalid id rejects like every other error instead of throwing.
  const modifier = returns.startsWith('Promise') ? 'async ' : ''
  const deprecated = deprecation ? `\n * @deprecated ${deprecation}` : ''
  return `${comment(`${summary}${note}.${deprecated}`)}${modifier}${name}(${[...parameters, 'options?: CallOptions'].join(', ')}): ${returns} {
    return ${body}
  }\n`
}

/** Reads the response of a list: pages of items and, if the list supports `count`, a number. */
function answersOf(answer: Schema, declarations: Declarations): { items?: Schema; count?: Schema } {
  const kinds = (answer.anyOf ?? [answer]).map(({ properties = {} }) => properties)
  const page = kinds.find(({ meta }) => meta && nameOf(meta) === 'PageMeta')
  const count = kinds.find(({ data }) => data && declarations.resolve(data).properties?.count)
  if (!page?.data?.items || kinds.some((kind) => kind !== page && kind !== count)) return {}
  return { items: page.data.items, ...(count?.data && { count: count.data }) }
}

/** The methods of operations without numbered pages. An operation that returns pages or counts gets a method for each. */
function followedMethods(operation: Operation, declarations: Declarations): Parts[] {
  const { operationId, answer, query } = operation
  const [page, counts] = answer.anyOf ?? []
  const counted = counts?.properties?.data
  if (!page || !counted?.items || !declarations.resolve(counted.items).properties?.count) {
    return [...singles(operation, declarations), ...iterator(operation, declarations)]
  }
  const { count: _count, ...properties } = query?.properties ?? {}
  const list = { ...operation, answer: page, query: { ...query, properties } }
  const type = declarations.namedAnswer(`${capitalized(operationId)}Count`, counted)
  return [
    ...singles(list, declarations),
    ...iterator(list, declarations),
    counting(list, `${capitalized(operationId)}Query`, type),
  ]
}

/** The method of an operation. One that returns something else with a field of the body gets a method for that field. */
function singles(operation: Operation, declarations: Declarations): Parts[] {
  const { operationId, name, body, answer } = operation
  const kinds = answer.properties?.data?.anyOf ?? []
  const special = kinds.find((kind) => declarations.resolve(kind)['x-with'])
  const field = special && declarations.resolve(special)['x-with']
  if (!body || !special || !field) return [single(operation, declarations)]
  const anyBody = declarations.argument(body)
  const returning = (data: Schema) => ({ ...operation, answer: { properties: { data } } })
  const bodyWith = (suffix: string, type: string) =>
    declarations.declare(`${capitalized(operationId)}${suffix}Body`, `${anyBody} & { ${type} }`)
  const [plain = {}] = kinds.filter((kind) => kind !== special)
  const one = single(returning(plain), declarations, bodyWith('', `${field}?: undefined`))
  const value = `NonNullable<${anyBody}['${field}']>`
  const several = bodyWith('ToMany', `${field}: ${value}`)
  const many = single(returning(special), declarations, several)
  return [one, { ...many, name: `${name}ToMany`, note: ' (to several receivers)' }]
}

function single(operation: Operation, declarations: Declarations, bodyType?: string): Parts {
  const { operationId, name, body, answer } = operation
  const { data, ...others } = answer.properties ?? {}
  const alone = data !== undefined && Object.keys(others).length === 0
  const type = declarations.namedAnswer(`${capitalized(operationId)}Answer`, alone ? data : answer)
  const query = queryType(operation, [], declarations)
  const parameters = [
    ...idParameters(operation),
    ...(bodyType ? [`body: ${bodyType}`] : []),
    ...(body && !bodyType ? [bodyParameter(operation, body, declarations)] : []),
    ...(query ? [queryParameter(operation, query)] : []),
  ]
  const given = [
    ...(body ? ['body'] : []),
    ...(query ? ['query'] : []),
    ...countsIn(data, declarations),
  ]
  const send = alone ? 'data' : 'answer'
  return {
    name,
    parameters,
    returns: `Promise<${type}>`,
    body: `this.#transport.${send}(${callOf(operation, given)}, options)`,
  }
}

/** The counts of the records in `data` that JSON shows as strings. */
function countsIn(data: Schema | undefined, declarations: Declarations): string[] {
  const { properties = {} } = declarations.resolve(data?.items ?? data ?? {})
  const counts = Object.keys(properties).filter((name) => properties[name]?.['x-count'])
  return counts.length > 0 ? [`counts: ${JSON.stringify(counts)}`] : []
}

/** An iterator over a list whose pages say how to get the next one. A list that always has a next page gets none. */
function iterator(operation: Operation, declarations: Declarations): Parts[] {
  const { operationId, name, query, answer } = operation
  const { data, meta } = answer.properties ?? {}
  const next = meta?.properties?.next
  if (!data?.items || !next || meta?.required?.includes('next')) return []
  assertList(operation)
  const ids = operation.ids.map(({ name }) => name)
  const given = [...ids, '{ ...query, ...page }', 'options'].join(', ')
  // If the next page is a single value, the parameter for the direction takes it.
  const [parameter] = ['before', 'after'].filter((one) => query?.properties?.[one])
  const single = next.properties ? '' : `, '${parameter}'`
  const item = declarations.namedAnswer(`${capitalized(operationId)}Item`, data.items)
  return [
    {
      name: name.replace('list', 'all'),
      note: ' (iterates over all pages)',
      parameters: [
        ...idParameters(operation),
        queryParameter(operation, `${capitalized(operationId)}Query`),
      ],
      returns: `AsyncGenerator<${item}, void, undefined>`,
      body: `everyFollowing((page) => this.${name}(${given})${single})`,
    },
  ]
}

function assertList({ operationId, name }: Operation): void {
  if (!name.startsWith('list'))
    throw new Error(`${operationId} returns pages, so its name must start with "list".`)
}

function listMethods(
  operation: Operation,
  items: Schema,
  count: Schema | undefined,
  declarations: Declarations,
): Parts[] {
  const { operationId } = operation
  assertList(operation)
  const item = declarations.namedAnswer(`${capitalized(operationId)}Item`, items)
  const query = queryType(operation, count ? ['count'] : [], declarations)
  const given = ['query', ...countsIn(items, declarations)]
  const lists = [list(operation, query, item, given), all(operation, query, item)]
  if (!count) return lists
  const type = declarations.namedAnswer(`${capitalized(operationId)}Count`, count)
  return [...lists, counting(operation, query, type)]
}

const list = (operation: Operation, query: string, item: string, given: string[]): Parts => ({
  name: operation.name,
  note: ' (one page)',
  parameters: [...idParameters(operation), queryParameter(operation, query)],
  returns: `Promise<Page<${item}>>`,
  body: `this.#transport.answer(${callOf(operation, given)}, options)`,
})

function all(operation: Operation, query: string, item: string): Parts {
  const ids = operation.ids.map(({ name }) => name)
  const given = [...ids, '{ ...query, ...page }', 'options'].join(', ')
  return {
    name: operation.name.replace('list', 'all'),
    note: ' (iterates over all pages)',
    parameters: [
      ...idParameters(operation),
      queryParameter(operation, `Omit<${query}, 'page' | 'cursor'>`),
    ],
    returns: `AsyncGenerator<${item}, void, undefined>`,
    body: `everyRecord((page) => this.${operation.name}(${given}))`,
  }
}

const counting = (operation: Operation, query: string, type: string): Parts => ({
  name: operation.name.replace('list', 'count'),
  note: ' (count only)',
  parameters: [
    ...idParameters(operation),
    queryParameter(operation, `Omit<${query}, 'page' | 'cursor' | 'perPage'>`),
  ],
  returns: `Promise<${type}>`,
  body: `this.#transport.data(${callOf(operation, ['query: { ...query, count: true }'])}, options)`,
})

const idParameters = ({ ids }: Operation) =>
  ids.map(({ name, schema }) => `${name}: ${typeOf(schema, { input: true })}`)

/** If the body may be null, the parameter is optional. */
function bodyParameter({ operationId }: Operation, body: Schema, declarations: Declarations) {
  const types = [body.type ?? []].flat()
  const given = types.includes('null') ? { ...body, type: types.filter(isNotNull) } : body
  const type = declarations.declare(`${capitalized(operationId)}Body`, declarations.argument(given))
  return `body${given === body ? '' : '?'}: ${type}`
}

const isNotNull = (type: string) => type !== 'null'

const queryParameter = ({ query }: Operation, type: string) =>
  `query${query?.required?.length ? '' : '?'}: ${type}`

/** The name of the query's type. Empty if there is no query. */
function queryType(
  { operationId, query }: Operation,
  without: string[],
  declarations: Declarations,
): string {
  if (!query) return ''
  const fields = Object.entries(query.properties ?? {}).filter(([name]) => !without.includes(name))
  const schema = { ...query, properties: Object.fromEntries(fields) }
  return declarations.declare(`${capitalized(operationId)}Query`, declarations.argument(schema))
}

function callOf({ method, url }: Operation, given: string[]): string {
  const path = url.replace(/\{(\w+)\}/g, (_, name: string) => `\${segment(${name})}`)
  const quoted = path === url ? `'${path}'` : `\`${path}\``
  return `{ ${[`method: '${method}'`, `path: ${quoted}`, ...given].join(', ')} }`
}
