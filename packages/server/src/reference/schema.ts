/** Shows schemas as lists of fields. */
import type { Parameter, Schema } from './document.ts'
import { escaped, inline } from './html.ts'

/** Deeper fields are rare, and their records are described elsewhere. */
const DEEPEST = 6

export const nameOf = ($ref: string) => $ref.split('/').at(-1) ?? ''

/** The type in words: `string`, `User[]`, `string or null`. */
function typeOf(schema: Schema): string {
  const { $ref, type, anyOf, oneOf, allOf, items, enum: values } = schema
  if ($ref) return nameOf($ref)
  const parts = anyOf ?? oneOf ?? allOf
  if (parts) return [...new Set(parts.map(typeOf))].join(' or ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (type === 'array' || items) return `${typeOf(items ?? {})}[]`
  if (values && type === undefined) return typeof values[0]
  return [type ?? 'any'].flat().join(' or ')
}

const link = (type: string, schema: Schema): string => {
  const { $ref } = schema.items ?? schema
  return $ref ? `<a href="{{docs}}/records#${nameOf($ref)}">${escaped(type)}</a>` : escaped(type)
}

const recordLink = ($ref: string) =>
  `<a href="{{docs}}/records#${nameOf($ref)}">${nameOf($ref)}</a>`

/** What a value must satisfy besides its type. */
function rulesOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  const values = schema.enum ?? schema.items?.enum
  const between = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`
    if (most !== undefined) return `at most ${most}${unit}`
    return least !== undefined && least > 0 ? `at least ${least}${unit}` : ''
  }
  const small = (most: number | undefined) => (most === Number.MAX_SAFE_INTEGER ? undefined : most)
  const rules = [
    values
      ? `one of ${values.map((value) => `<code>${escaped(String(value))}</code>`).join(', ')}`
      : '',
    between(minimum, small(maximum), ''),
    between(minLength, maxLength, ' characters'),
    between(minItems, maxItems, ' items'),
    schema.default === undefined
      ? ''
      : `default <code>${escaped(JSON.stringify(schema.default))}</code>`,
  ].filter(Boolean)
  return rules.length > 0 ? `<p class="rules">${rules.join(' · ')}</p>` : ''
}

interface Field {
  name: string
  schema: Schema
  required: boolean
  description?: string | undefined
}

function field({ name, schema, required, description = schema.description }: Field, depth: number) {
  const type = `<span class="type">${link(typeOf(schema), schema)}</span>`
  const must = required ? '<span class="required">required</span>' : ''
  return `<li><div class="name"><code>${escaped(name)}</code>${type}${must}</div>${
    description ? `<p>${inline(description)}</p>` : ''
  }${rulesOf(schema)}${nested(schema, depth)}</li>`
}

/** The fields of an object, folded. */
function nested(schema: Schema, depth: number): string {
  const inner = schema.items ?? schema
  const { additionalProperties: others, patternProperties = {} } = inner
  const [value = typeof others === 'object' ? others : undefined] = Object.values(patternProperties)
  const shown = value ?? inner
  if (depth >= DEEPEST || shown.$ref) return ''
  const list = fieldsOf(shown, depth + 1)
  if (!list) return ''
  return `<details><summary>${value ? 'Fields of each value' : 'Fields'}</summary>${list}</details>`
}

/** A list of the fields of an object or of each kind of object; empty for other values. */
export function fieldsOf(schema: Schema, depth = 0): string {
  const { $ref, properties, required = [], anyOf, oneOf, allOf } = schema
  if ($ref) return `<p>See ${recordLink($ref)}.</p>`
  const kinds = (anyOf ?? oneOf ?? allOf ?? []).filter((kind) => kind.$ref || kind.properties)
  const refs = kinds.flatMap((kind) => kind.$ref ?? [])
  if (refs.length > 0 && refs.length === kinds.length) {
    return `<p>${allOf ? 'All of' : 'One of'} ${refs.map(recordLink).join(', ')}.</p>`
  }
  if (kinds.length > 0) {
    return kinds
      .map((kind, nth) => `<p class="kind">${kindName(kind, nth)}</p>${fieldsOf(kind, depth)}`)
      .join('')
  }
  const fields = Object.entries(properties ?? {}).map(([name, own]) =>
    field({ name, schema: own, required: required.includes(name) }, depth),
  )
  return fields.length > 0 ? `<ul class="fields">${fields.join('')}</ul>` : ''
}

const kindName = ({ $ref, title }: Schema, nth: number) =>
  escaped(title ?? ($ref ? nameOf($ref) : `${nth === 0 ? 'Either' : 'Or'}:`))

export const parameterList = (parameters: Parameter[]) =>
  `<ul class="fields">${parameters
    .map(({ name, schema, required = false, description }) =>
      field({ name, schema, required, description }, 0),
    )
    .join('')}</ul>`
