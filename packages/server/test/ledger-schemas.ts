/** Finds fields in the schemas of our documents and compares them with the ledger's. */
import type { Field } from './ledger.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  required?: string[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  [keyword: string]: unknown
}

/** Resolves `$ref`. */
export type Resolve = (ref: string) => Schema

/** A field as a document declares it: its schemas in all variants of its parent that have it. */
interface Found {
  schemas: Schema[]
  required: boolean
  /** The document says nothing about its values. */
  open: boolean
}

/** The alternatives that a schema offers, and the parts that it consists of. */
export function variants(schema: Schema, resolve: Resolve): Schema[] {
  if (schema.$ref) return variants(resolve(schema.$ref), resolve)
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  const own = schema.properties || schema.type || !parts.length ? [schema] : []
  return [...own, ...parts.flatMap((part) => variants(part, resolve))]
}

/** Any value or any field is allowed, so there is nothing to compare. */
const isOpen = ({ type, properties, enum: values, const: one, ...schema }: Schema) =>
  values === undefined &&
  one === undefined &&
  (type === undefined ? !properties : type === 'object' && !properties) &&
  schema.additionalProperties !== false &&
  !isSchema(schema.additionalProperties) &&
  !schema.patternProperties

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0

/** The values of a map: `{uid}` in a path. */
const valuesOf = ({ additionalProperties, patternProperties }: Schema): Schema[] => [
  ...(isSchema(additionalProperties) ? [additionalProperties] : []),
  ...Object.values(patternProperties ?? {}).filter(isSchema),
]

/** Looks up `data.attachments[].url` or `members.{uid}.scope`. 'open' if the document leaves it open. */
export function find(
  schemas: Schema[],
  path: string,
  resolve: Resolve,
): Found | 'open' | undefined {
  let found = schemas.flatMap((one) => variants(one, resolve))
  let required = true
  for (const step of steps(path)) {
    const holders = found.filter((parent) => stepInto(parent, step).length)
    if (!holders.length) return found.some(isOpen) ? 'open' : undefined
    required = holders.every((parent) => parent.required?.includes(step))
    found = holders
      .flatMap((parent) => stepInto(parent, step))
      .flatMap((one) => variants(one, resolve))
  }
  return { schemas: found, required, open: found.every((one) => !one.type && isOpen(one)) }
}

/** A bracketed range such as `createdAt[from]` is one name. */
const steps = (path: string) => path.replaceAll('[]', '.[]').split('.')

function stepInto(parent: Schema, step: string): Schema[] {
  if (step === '[]') return parent.items ? [parent.items] : []
  if (step.startsWith('{')) return valuesOf(parent)
  const property = parent.properties?.[step]
  return property ? [property] : []
}

/** The names of the fields of a schema, in all its variants. */
export const namesIn = (schemas: Schema[], resolve: Resolve): string[] => [
  ...new Set(
    schemas
      .flatMap((one) => variants(one, resolve))
      .flatMap(({ properties }) => Object.keys(properties ?? {})),
  ),
]

/** Says how a document's schema contradicts what the ledger says about a field. */
export function contradiction({ is }: Field, schemas: Schema[], resolve: Resolve): string[] {
  if (schemas.every((one) => !one.type && isOpen(one))) return []
  const [kind = '', ...limits] = is.split(', ')
  const unfit = limits.filter((limit) => !limitFits(limit, schemas))
  const problems = unfit.map((limit) => `doesn't say "${limit}"`)
  return kindFits(kind, schemas, resolve) ? problems : [`isn't "${kind}"`, ...problems]
}

function kindFits(kind: string, schemas: Schema[], resolve: Resolve): boolean {
  const types = new Set(schemas.flatMap(typesOf))
  if (kind === 'any') return true
  if (kind.startsWith('<')) return types.has(kind.endsWith(']') ? 'array' : 'object')
  if (kind.startsWith('strings')) {
    const items = schemas.flatMap(({ items: one }) => (one ? variants(one, resolve) : []))
    return (
      types.has('array') &&
      kindFits(kind.slice('strings'.length).trim() || 'string', items, resolve)
    )
  }
  if (kind === 'integer') return types.has('integer')
  if (kind === 'number') return types.has('number') || types.has('integer')
  if (['string', 'boolean', 'object', 'array'].includes(kind)) return types.has(kind)
  const values = schemas.flatMap(({ enum: many = [], const: one }) =>
    one === undefined ? many : [one],
  )
  return kind.split(' | ').every((value) => !values.length || values.map(String).includes(value))
}

function typesOf({ type, enum: values = [], const: one, properties }: Schema): string[] {
  if (type) return [type].flat()
  if (properties) return ['object']
  return [...values, ...(one === undefined ? [] : [one])].map((value) => typeof value)
}

const MAXIMA = ['maximum', 'maxLength', 'maxItems', 'x-maxCharacters', 'x-maxBytes']

function limitFits(limit: string, schemas: Schema[]): boolean {
  const says = (names: string[], value: number) =>
    schemas.some((schema) => names.some((name) => schema[name] === value))
  const [, max] = limit.match(/^max (\d+)$/) ?? []
  if (max) return says(MAXIMA, Number(max))
  const [, from, to] = limit.match(/^(\d+)\.\.(\d+)$/) ?? []
  if (from) return says(['minimum'], Number(from)) && says(['maximum'], Number(to))
  const [, initial] = limit.match(/^default (.+)$/) ?? []
  if (initial) return schemas.some((schema) => String(schema.default) === initial)
  return true
}

/** A value with every field of a schema. */
export function sampleOf(schema: Schema): unknown {
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first) return sampleOf(first)
  if (schema.const !== undefined || schema.enum) return schema.const ?? schema.enum?.[0]
  if (schema.type === 'array') return schema.items ? [sampleOf(schema.items)] : []
  if (schema.type !== 'object') return { string: 'text', boolean: true }[String(schema.type)] ?? 1
  const properties = Object.entries(schema.properties ?? {})
  const values = valuesOf(schema).map((value): [string, Schema] => ['id', value])
  return Object.fromEntries(
    [...properties, ...values].map(([name, value]) => [name, sampleOf(value)]),
  )
}

/** Whether a value has this path. */
export function hasPath(value: unknown, path: string): boolean {
  let values = [value]
  for (const step of steps(path)) {
    values = values.flatMap((one) => childrenOf(one, step))
  }
  return values.length > 0
}

function childrenOf(value: unknown, step: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (step === '[]' || step.startsWith('{')) return Object.values(value)
  const child = (value as Record<string, unknown>)[step]
  return child === undefined ? [] : [child]
}
