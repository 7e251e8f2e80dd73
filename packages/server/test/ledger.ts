/** The contract ledger: what the public contract of such a service says, and how much of it is built. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const FOLDER = fileURLToPath(new URL('../contract/', import.meta.url))

export type State = { state: 'built' } | { state: 'deviates'; why: string }

/** A parameter or field. Its path is relative to the body, the record or the query. */
export interface Field {
  path: string
  /** In requests: the caller must send it. In answers: it is always there. */
  required: boolean
  /** For example `string, max 100` or `asc | desc, default asc`. */
  is: string
  state: State
}

export interface ContractOperation {
  /** For example `POST /users`. */
  name: string
  /** Method and path in our documents. */
  at: string
  state: State
  deprecated: boolean
  onBehalfOf: 'required' | 'optional' | 'ignored'
  rate: string
  parameters: Field[]
  body: Field[]
  answer: Answer | undefined
  /** Records in `meta`, by their name there. */
  meta: { name: string; record: string; state: State }[]
  errors: { code: string; state: State }[]
}

export interface Answer {
  /** `data` is a record, a list of records, or one record for each id. */
  kind: 'one' | 'list' | 'each'
  record: string | undefined
  /** A record that the answer can have instead. */
  or: string | undefined
  fields: Field[]
}

export interface ContractError {
  code: string
  status: number
  when: string | undefined
  /** The service never returns it; protocol/src/errors/ says why. */
  never: boolean
  state: State
}

export interface Area {
  title: string
  records: Map<string, Field[]>
  operations: ContractOperation[]
  errors: ContractError[]
  triggers: { name: string; data: Field[]; shownBy: string | undefined; state: State }[]
  events: { name: string; as: string; fields: Record<string, string>; state: State }[]
  settings: { name: string; default: unknown; state: State }[]
  rules: { text: string; state: State }[]
}

/** Our own additions: names, or names by operation or record, each with the reason. */
export interface Additions {
  operations: Record<string, string>
  parameters: Record<string, Record<string, string>>
  body: Record<string, Record<string, string>>
  fields: Record<string, Record<string, string>>
  errors: Record<string, string>
  events: Record<string, string>
  settings: Record<string, string>
}

export interface Ledger {
  areas: Area[]
  /** All records, with those that they extend. */
  records: Map<string, Field[]>
  additions: Additions
}

/** As the files are written. */
interface StateSource {
  deviates?: string
}
type FieldSource = string | number | ({ is: string } & StateSource)
type FieldsSource = Record<string, FieldSource>
interface OperationSource extends StateSource {
  deprecated?: boolean
  onBehalfOf?: 'required' | 'optional'
  rate?: string
  header?: FieldsSource
  query?: FieldsSource
  body?: FieldsSource
  answer?: string | FieldsSource
  list?: string
  each?: string
  or?: string
  adds?: FieldsSource
  meta?: string[] | FieldsSource
  errors?: (string | ({ code: string } & StateSource))[]
}
interface TriggerSource extends StateSource {
  data?: FieldsSource
  /** The tests of a call that isn't one of a webhook. */
  shownBy?: string
}
interface AreaSource extends StateSource {
  title: string
  host?: 'manage'
  records?: Record<string, FieldsSource>
  /** Sets of fields that requests share; `include` names one. */
  parameters?: Record<string, FieldsSource>
  operations?: Record<string, OperationSource>
  errors?: Record<string, number | ({ status: number; when?: string; never?: true } & StateSource)>
  triggers?: Record<string, FieldsSource | TriggerSource>
  events?: Record<string, { as: string; fields?: Record<string, string> } & StateSource>
  settings?: Record<string, unknown>
  rules?: (string | ({ rule: string } & StateSource))[]
}

const BUILT: State = { state: 'built' }

/** The state that an entry gives, or else that of the entry around it. */
const stateOf = ({ deviates }: StateSource, outer: State): State =>
  deviates === undefined ? outer : { state: 'deviates', why: deviates }

/** Names can share a definition: `createdAt*, updatedAt: integer`. */
function readFields(source: FieldsSource, outer: State, sets: AreaSource['parameters'] = {}) {
  return Object.entries(source).flatMap(([names, given]): Field[] => {
    if (names === 'include') return readFields(sets[String(given)] ?? {}, outer, sets)
    const { is, ...state } = typeof given === 'object' ? given : { is: String(given) }
    return names.split(', ').map((name) => ({
      path: name.replaceAll('*', ''),
      required: name.endsWith('*'),
      is,
      state: stateOf(state, outer),
    }))
  })
}

function readAnswer(source: OperationSource, outer: State): Answer | undefined {
  const { answer, list, each, or, adds = {} } = source
  const record = list ?? each ?? (typeof answer === 'string' ? answer : undefined)
  const own = typeof answer === 'object' ? answer : {}
  if (!record && !Object.keys(own).length) return undefined
  const fields = readFields({ ...own, ...adds }, outer)
  return { kind: list ? 'list' : each ? 'each' : 'one', record, or, fields }
}

function readOperation(name: string, source: OperationSource, area: AreaSource): ContractOperation {
  const state = stateOf(source, stateOf(area, BUILT))
  const { onBehalfOf = 'ignored', rate = 'standard', deprecated = false } = source
  const [method, path] = name.split(' ')
  const { meta = {} } = source
  const read = (fields: FieldsSource = {}) => readFields(fields, state, area.parameters)
  const places = Array.isArray(meta) ? Object.fromEntries(meta.map((one) => [one, one])) : meta
  return {
    ...{ name, state, deprecated, onBehalfOf, rate },
    at: `${method} ${area.host === 'manage' ? '' : '/v3'}${path}`,
    parameters: [...read(source.header), ...read(source.query)],
    body: read(source.body),
    answer: readAnswer(source, state),
    meta: read(places).map(({ path: place, is, state: own }) => ({
      name: place,
      record: is,
      state: own,
    })),
    errors: (source.errors ?? []).map((error) =>
      typeof error === 'string'
        ? { code: error, state }
        : { code: error.code, state: stateOf(error, state) },
    ),
  }
}

function readTrigger(name: string, source: NonNullable<AreaSource['triggers']>[string]) {
  // Fields alone mean that the trigger is built.
  const wrapped = ['data', 'deviates'].some((key) => Object.hasOwn(source, key))
  const {
    data = {},
    shownBy,
    ...own
  }: TriggerSource = wrapped ? (source as TriggerSource) : { data: source as FieldsSource }
  const state = stateOf(own, BUILT)
  return { name, state, shownBy, data: readFields(data, state) }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function readArea(source: AreaSource): Area {
  const outer = stateOf(source, BUILT)
  const entries = <T>(of: Record<string, T> = {}) => Object.entries(of)
  return {
    title: source.title,
    records: new Map(
      entries(source.records).map(([name, fields]) => [name, readFields(fields, outer)]),
    ),
    operations: entries(source.operations).map(([name, operation]) =>
      readOperation(name, operation, source),
    ),
    errors: entries(source.errors).map(([code, given]) => {
      const error = typeof given === 'number' ? { status: given } : given
      const { status, when, never = false } = error
      const why = 'The service never returns it.'
      return { code, status, when, never, state: stateOf(never ? { deviates: why } : error, outer) }
    }),
    triggers: entries(source.triggers).map(([name, trigger]) => readTrigger(name, trigger)),
    events: entries(source.events).map(([name, { as, fields = {}, ...state }]) => ({
      ...{ name, as, fields, state: stateOf(state, outer) },
    })),
    settings: entries(source.settings).map(([name, given]) => {
      const setting: StateSource & { default?: unknown } = isObject(given)
        ? given
        : { default: given }
      return { name, default: setting.default, state: stateOf(setting, outer) }
    }),
    rules: (source.rules ?? []).map((rule) =>
      typeof rule === 'string'
        ? { text: rule, state: outer }
        : { text: rule.rule, state: stateOf(rule, outer) },
    ),
  }
}

const readFile = (name: string) =>
  parse(readFileSync(`${FOLDER}${name}.yaml`, 'utf8'), { merge: true, maxAliasCount: -1 })

/**
 * Fields that aren't fields: the record that this one extends, the schema in our document or the frame that shows it,
 * and the tests of what we send elsewhere.
 */
export const isLink = ({ path }: Field) => ['extends', '$ref', 'frame', 'shownBy'].includes(path)

/** A record's own fields, and those of the record that it extends. */
function allFields(name: string, records: Map<string, Field[]>): Field[] {
  const fields = records.get(name)
  if (!fields) throw new Error(`the ledger has no record "${name}"`)
  const extended = fields.find(({ path }) => path === 'extends')?.is
  const own = fields.filter((field) => !isLink(field))
  return extended ? [...allFields(extended, records), ...own] : own
}

export function readLedger(): Ledger {
  const { order } = readFile('order') as { order: string[] }
  const names = globSync('*.yaml', { cwd: FOLDER }).map((file) => basename(file, '.yaml'))
  const unknown = names.filter((name) => ![...order, 'order', 'additions'].includes(name))
  if (unknown.length) throw new Error(`contract/order.yaml doesn't name ${unknown.join(', ')}`)
  const areas = order.map((name) => readArea(readFile(name)))
  const own = new Map(areas.flatMap(({ records }) => [...records]))
  return {
    areas,
    records: new Map([...own.keys()].map((name) => [name, allFields(name, own)])),
    additions: readFile('additions'),
  }
}
