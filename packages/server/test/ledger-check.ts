/** Compares the contract ledger with our documents, the error catalogue and the tables of events, both ways. */
import { readFileSync } from 'node:fs'
import {
  clientFrames,
  type EventType,
  errors,
  events,
  impossibleErrors,
  serverFrames,
  triggerDataOf,
  triggers,
} from '@loquat/protocol'
import {
  type Permission,
  rolePermissions,
  scopePermissions,
} from '../src/core/access/definitions.ts'
import { settings } from '../src/core/settings.ts'
import {
  type Additions,
  type Area,
  type ContractOperation,
  type Field,
  isLink,
  type Ledger,
  type State,
} from './ledger.ts'
import {
  contradiction,
  find,
  hasPath,
  namesIn,
  type Resolve,
  type Schema,
  sampleOf,
} from './ledger-schemas.ts'

interface DocumentOperation {
  deprecated?: boolean
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
  'x-on-behalf-of'?: string
  'x-rate-class'?: string
}

/** An operation of a document. */
interface Operation {
  name: string
  source: DocumentOperation
  parameters: Schema
  body: Schema
  answer: Schema
  codes: Set<string>
  resolve: Resolve
}

const jsonOf = (content?: Record<string, { schema: Schema }>) =>
  content?.['application/json']?.schema ?? {}

function readDocument(file: string): Operation[] {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  const { paths, components } = JSON.parse(text) as {
    paths: Record<string, Record<string, DocumentOperation>>
    components: { schemas?: Record<string, Schema> }
  }
  const resolve = (ref: string) => {
    const schema = components.schemas?.[ref.split('/').at(-1) ?? '']
    if (!schema) throw new Error(`${file} has no ${ref}`)
    return schema
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, source]) => {
      const responses = Object.values(source.responses).map(({ content }) => jsonOf(content))
      return {
        name: `${method.toUpperCase()} ${path}`,
        source,
        parameters: parametersOf(source),
        body: jsonOf(source.requestBody?.content),
        answer: jsonOf(source.responses['200']?.content),
        codes: new Set(codesIn(responses, resolve)),
        resolve,
      }
    }),
  )
}

/** Query and header parameters as an object. */
function parametersOf({ parameters = [] }: DocumentOperation): Schema {
  const own = parameters.filter((one) => one.in !== 'path')
  return {
    type: 'object',
    properties: Object.fromEntries(own.map(({ name, schema }) => [name, schema])),
    required: own.flatMap(({ name, required }) => (required ? name : [])),
    additionalProperties: false,
  }
}

/** The codes in error answers, and those for single ids in other answers. */
function codesIn(schema: unknown, resolve: Resolve, seen = new Set<string>()): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { $ref, properties } = schema as Schema
  if ($ref) return seen.has($ref) ? [] : codesIn(resolve($ref), resolve, new Set([...seen, $ref]))
  const own = properties?.error?.properties?.code?.enum as string[] | undefined
  const inner = Object.values(schema).flatMap((value) => codesIn(value, resolve, seen))
  return [...(own ?? []), ...inner]
}

const documents = new Map(
  ['openapi.json', 'management.openapi.json']
    .flatMap(readDocument)
    .map((operation) => [operation.name, operation]),
)

const isBuilt = ({ state }: { state: State }) => state.state === 'built'

/** What is wrong with entries of an area: built ones that differ or don't exist. */
export const checkArea = (area: Area, ledger: Ledger): string[] => [
  ...[...area.records].flatMap(([name, fields]) => checkRecord(name, fields, ledger)),
  ...area.operations.flatMap((operation) => checkOperation(operation, ledger)),
  ...area.errors.flatMap(checkError),
  ...area.triggers.flatMap(checkTrigger),
  ...area.events.flatMap(checkEvent),
  ...area.settings.flatMap(checkSetting),
]

const permissions: Record<string, Record<string, Permission>> = {
  rolePermissions,
  scopePermissions,
}

/** Permissions are names with values, not fields of an answer. */
function checkPermissions(table: Record<string, Permission>, fields: Field[]): string[] {
  const unknown = Object.keys(table).filter((name) => !fields.some(({ path }) => path === name))
  return [
    ...unknown.map((name) => `the permission ${name} isn't in the ledger`),
    ...fields.flatMap(({ path, is }) => {
      const ours = table[path]
      if (!ours) return [`there is no permission ${path}`]
      const [kind = '', ...rest] = is.replace(/^strings ?/, '').split(', ')
      const words = kind === '' ? [] : kind.split(' | ')
      const missing = words.filter((word) => !ours.availableValues?.includes(word))
      const initial = rest.find((part) => part.startsWith('default '))?.slice('default '.length)
      const fits = initial === undefined || ours.defaultValue === initial
      return [
        ...missing.map((word) => `${path} can't be ${word}`),
        ...(fits ? [] : [`${path} is ${ours.defaultValue} by default`]),
      ]
    }),
  ]
}

/** Records are compared where an operation answers with them, or with the component that they name. */
function checkRecord(name: string, fields: Field[], { areas }: Ledger): string[] {
  if (permissions[name]) return checkPermissions(permissions[name], fields)
  const { resolve = unresolved } = documents.get('GET /v3/messages') ?? {}
  const own = fields.filter((field) => !isLink(field))
  const linked = (link: string) => fields.find(({ path }) => path === link)?.is
  const [component, frame, tests] = [linked('$ref'), linked('frame'), linked('shownBy')]
  if (tests)
    return checkShown(
      own.filter(isBuilt).map(({ path }) => path),
      tests,
    )
  if (frame) return checkFields(name, own, bodiesOf(frame), { resolve: unresolved, request: false })
  if (component) {
    const schema = resolve(`#/components/schemas/${component}`)
    return checkFields(name, own, [schema], { resolve, request: false })
  }
  const answered = areas
    .flatMap((area) => area.operations)
    .flatMap(({ answer, meta }) => [answer?.record, answer?.or, ...meta.map((one) => one.record)])
  const extended = areas
    .flatMap((area) => [...area.records.values()].flat())
    .flatMap(({ path, is }) => (path === 'extends' ? is : []))
  const compared = [...answered, ...extended].includes(name)
  return compared || !fields.some(isBuilt) ? [] : [`the record ${name} is compared with nothing`]
}

function checkOperation(operation: ContractOperation, { areas, records }: Ledger): string[] {
  const { state, at: name, answer } = operation
  if (state.state === 'deviates') return []
  const returned = new Set(areas.flatMap((area) => area.errors.filter(isBuilt)).map(codeOf))
  const recordOf = (name = '') => records.get(name) ?? []
  const ours = documents.get(name)
  if (!ours) return [`${name} doesn't exist`]
  const { resolve } = ours
  const request = { resolve, request: true }
  const response = { resolve, request: false }
  return [
    ...checkFields(name, operation.parameters, [ours.parameters], request),
    ...checkFields(`${name}: body`, operation.body, [ours.body], request),
    ...(answer
      ? checkFields(
          `${name}: ${answer.record ?? 'answer'}`,
          [...recordOf(answer.record), ...answer.fields],
          dataOf(ours, [answer.kind]),
          response,
        )
      : []),
    ...checkFields(
      `${name}: ${answer?.or}`,
      recordOf(answer?.or),
      dataOf(ours, ['one', 'list']),
      response,
    ),
    ...operation.meta.filter(isBuilt).flatMap((meta) => {
      const schemas = schemasAt(ours, `meta.${meta.name}`)
      return checkFields(`${name}: meta.${meta.name}`, recordOf(meta.record), schemas, response)
    }),
    ...operation.errors
      .filter((error) => isBuilt(error) && returned.has(error.code) && !ours.codes.has(error.code))
      .map(({ code }) => `${name} doesn't declare ${code}`),
    ...checkAccess(operation, ours),
  ]
}

const codeOf = ({ code }: { code: string }) => code

/** Who may call it, how often, and for how long. */
function checkAccess({ deprecated, onBehalfOf, rate }: ContractOperation, ours: Operation) {
  const { name, source } = ours
  const { 'x-on-behalf-of': acting = 'ignored', 'x-rate-class': ownRate = 'standard' } = source
  const pairs = [
    ['deprecated', deprecated, source.deprecated ?? false],
    // Where the contract ignores it, it is a parameter that we add.
    ['onBehalfOf', onBehalfOf, onBehalfOf === 'ignored' ? 'ignored' : acting],
    ['rate', rate, ownRate],
  ]
  return pairs
    .filter(([, theirs, own]) => theirs !== own)
    .map(([what, theirs, own]) => `${name}: ${what} is ${own} instead of ${theirs}`)
}

function checkFields(
  where: string,
  fields: Field[],
  schemas: Schema[],
  { resolve, request }: { resolve: Resolve; request: boolean },
): string[] {
  return fields.flatMap((field) => {
    const { path, required, state } = field
    const found = find(schemas, path, resolve)
    if (found === 'open' || state.state === 'deviates') return []
    if (!found) return [`${where} ${path} doesn't exist`]
    const problems = contradiction(field, found.schemas, resolve)
    if (required && !found.required && !found.open)
      problems.push(request ? "isn't required" : "isn't always there")
    // Inside an optional object, fields may be required.
    if (request && found.required && !required && !path.includes('.')) problems.push('is required')
    return problems.map((problem) => `${where} ${path} ${problem}`)
  })
}

const PLACES = { one: 'data', list: 'data[]', each: 'data.{id}' }

/** The schemas of `data`: of the record, of a list's elements, or of a map's values. */
const dataOf = (operation: Operation, kinds: (keyof typeof PLACES)[]): Schema[] =>
  kinds.flatMap((kind) => schemasAt(operation, PLACES[kind]))

function schemasAt({ answer, resolve }: Operation, path: string): Schema[] {
  const found = find([answer], path, resolve)
  return found && found !== 'open' ? found.schemas : []
}

function checkError({ code, status, never, state }: Area['errors'][number]): string[] {
  const ours = (errors as Record<string, { status: number }>)[code]
  const problems = [
    ours && state.state === 'built' && ours.status !== status && `has the status ${ours.status}`,
    !ours && state.state === 'built' && "isn't in the catalogue",
    never && !Object.hasOwn(impossibleErrors, code) && "isn't among the codes never returned",
  ]
  return problems.filter((problem) => problem).map((problem) => `${code} ${problem}`)
}

/** What we send to servers of others is in no document: tests that look at it name its fields. */
function checkShown(paths: string[], tests: string): string[] {
  const texts = tests
    .split(' ')
    .map((file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
    .join('')
  const nameOf = (path: string) => path.split('.').at(-1) ?? path
  return paths
    .filter((path) => !new RegExp(`\\b${nameOf(path)}\\b`).test(texts))
    .map((path) => `${path} isn't named by ${tests}`)
}

function checkTrigger({ name, data, shownBy, state }: Area['triggers'][number]): string[] {
  if (shownBy) return checkShown([name], shownBy)
  const ours = triggers.get(name)
  if (state.state !== 'built') return []
  if (!ours) return [`there is no trigger ${name}`]
  const payload = sampleOf(schemaOf(events[ours.type].payload))
  const sent = triggerDataOf(ours.type, payload)
  return data.flatMap(({ path, state: own }) => {
    return own.state === 'built' && !hasPath(sent, path) ? [`${name} ${path} doesn't exist`] : []
  })
}

/** TypeBox schemas are JSON schemas. */
const schemaOf = (schema: object) => schema as Schema

/** What an event or a frame of this type carries. */
const bodiesOf = (type: string): Schema[] =>
  [
    events[type as EventType]?.payload,
    (serverFrames as Record<string, { body?: unknown }>)[type]?.body,
    (clientFrames as Record<string, { body?: unknown }>)[type]?.body,
  ].filter((body): body is Schema => body !== undefined)

const ourEvents = [...new Set([events, serverFrames, clientFrames].flatMap(Object.keys))]

function checkEvent({ name, as, fields, state }: Area['events'][number]): string[] {
  if (state.state !== 'built') return []
  if (!ourEvents.includes(as)) return [`${name}: there is no event or frame ${as}`]
  return Object.values(fields)
    .filter((path) => !find(bodiesOf(as), path, unresolved))
    .map((path) => `${name}: ${as} has no ${path}`)
}

const unresolved: Resolve = (ref) => {
  throw new Error(`events refer to nothing, but to ${ref}`)
}

function checkSetting({ name, default: initial, state }: Area['settings'][number]): string[] {
  const ours = (settings as Record<string, { default: unknown }>)[name]
  if (state.state !== 'built') return []
  if (!ours) return [`there is no setting ${name}`]
  return ours.default === initial ? [] : [`${name} is ${ours.default} by default`]
}

/** What we offer and the ledger doesn't know, and what is listed as an addition without being one. */
export function checkAdditions({ areas, records, additions }: Ledger): string[] {
  const operations = areas.flatMap((area) => area.operations)
  const targets = operations.map(({ at }) => at)
  const never = areas.flatMap((area) => area.errors.filter((error) => error.never)).map(codeOf)
  const known = {
    operations: targets,
    errors: areas.flatMap((area) => area.errors).map(codeOf),
    events: [
      ...areas.flatMap((area) => area.events.map(({ as }) => as)),
      ...[...triggers].flatMap(([trigger, { type }]) =>
        areas.some((area) => area.triggers.some(({ name }) => name === trigger)) ? type : [],
      ),
    ],
    settings: areas.flatMap((area) => area.settings.map(({ name }) => name)),
  }
  return [
    ...compare('operation', [...documents.keys()], known.operations, additions.operations),
    ...compare('error', Object.keys(errors), known.errors, additions.errors),
    ...compare('error never returned', Object.keys(impossibleErrors), never, {}),
    ...compare('event', ourEvents, known.events, additions.events),
    ...compare('setting', Object.keys(settings), known.settings, additions.settings),
    ...operations.flatMap((operation) => compareOperation(operation, records, additions)),
    ...[additions.parameters, additions.body, additions.fields]
      .flatMap(Object.keys)
      .filter((where) => ![...targets, ...records.keys(), 'every operation'].includes(where))
      .map((where) => `additions to ${where}, which the ledger doesn't have`),
  ]
}

/** Each of our names is in the ledger or among the additions, and no addition is anything else. */
function compare(
  what: string,
  ours: string[],
  known: string[],
  added: Record<string, string> = {},
): string[] {
  const missing = ours.filter((name) => !known.includes(name) && !Object.hasOwn(added, name))
  const stale = Object.keys(added).filter((name) => !ours.includes(name) || known.includes(name))
  return [
    ...missing.map((name) => `${what} ${name} is neither in the ledger nor among the additions`),
    ...stale.map((name) => `${what} ${name} isn't an addition`),
  ]
}

function compareOperation(
  { at: name, onBehalfOf, parameters, body, answer, meta }: ContractOperation,
  records: Ledger['records'],
  additions: Additions,
): string[] {
  const fields = [answer?.record, answer?.or].flatMap((name) => records.get(name ?? '') ?? [])
  const everywhere = Object.keys(additions.parameters['every operation'] ?? {})
  const taken = [...pathsOf(parameters), ...(onBehalfOf === 'ignored' ? [] : ['onBehalfOf'])]
  const ours = documents.get(name)
  if (!ours) return []
  const { resolve } = ours
  const own = namesIn([ours.parameters], resolve).filter((one) => !everywhere.includes(one))
  const shown = answer?.kind === 'each' ? [] : namesIn(dataOf(ours, ['one', 'list']), resolve)
  // `{key}` stands for any name.
  const named = answer?.fields.some(({ path }) => path.startsWith('{')) ? shown : []
  const known = [...topOf([...fields, ...(answer?.fields ?? [])]), ...named]
  const added = { ...addedTo(answer?.record, shown, additions), ...additions.fields[name] }
  return [
    ...compare(`${name}: parameter`, own, taken, additions.parameters[name]),
    ...compare(
      `${name}: field of the body`,
      namesIn([ours.body], resolve),
      topOf(body),
      additions.body[name],
    ),
    ...compare(`${name}: field of the answer`, shown, known, added),
    ...meta.flatMap(({ name: place, record }) => {
      const inside = namesIn(schemasAt(ours, `meta.${place}`), resolve)
      const rest = addedTo(record, inside, additions)
      return compare(`${name}: meta.${place}`, inside, topOf(records.get(record) ?? []), rest)
    }),
  ]
}

const pathsOf = (fields: Field[]) => fields.map(({ path }) => path)
const topOf = (fields: Field[]) => fields.map(({ path }) => path.split(/[.[]/)[0] ?? '')

/** Additions to a record, as far as they are shown. */
const addedTo = (record = '', shown: string[], { fields }: Additions) =>
  Object.fromEntries(
    Object.entries(fields[record] ?? {}).filter(([field]) => shown.includes(field)),
  )
