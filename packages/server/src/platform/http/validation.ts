import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { lazily } from '../lazily.ts'
import { countCharacters } from './characters.ts'
import { badRequest, type Details } from './fail.ts'
import { NO_COMMA } from './schemas.ts'
import { findUnstorable } from './unstorable.ts'

/** Trims a text, and counts characters with countCharacters. (`maxLength` counts code points.) */
const MAX_CHARACTERS = 'x-maxCharacters'

function newAjv(): Ajv {
  const ajv = new Ajv({
    ...{ allErrors: true, useDefaults: true, strict: true, strictTypes: false },
    // `npm run check` validates the schemas of openapi.json. Doing it here would delay the first request.
    validateSchema: false,
  })
  // Names a schema for the OpenAPI document.
  ajv.addKeyword('x-component')
  // Keeps a value out of the audit log (secret-fields.ts).
  ajv.addKeyword('x-secret')
  ajv.addKeyword({
    keyword: MAX_CHARACTERS,
    type: 'string',
    schemaType: 'number',
    modifying: true,
    validate(limit: number, text: string, _schema: unknown, context?: DataValidationCxt) {
      const trimmed = text.trim()
      if (context) context.parentData[context.parentDataProperty] = trimmed
      return trimmed.length > 0 && countCharacters(trimmed) <= limit
    },
    error: { message: ({ schema }) => `must have 1 to ${schema} characters` },
  })
  ajv.addKeyword({
    keyword: 'x-trimItems',
    type: 'array',
    // So that "a" and " a" are recognised as duplicates.
    before: 'uniqueItems',
    modifying: true,
    validate(_on: boolean, items: unknown[]) {
      for (const [n, item] of items.entries()) if (typeof item === 'string') items[n] = item.trim()
      return true
    },
  })
  ajv.addKeyword({
    keyword: 'x-lower',
    type: 'string',
    modifying: true,
    validate(_on: boolean, text: string, _schema: unknown, context?: DataValidationCxt) {
      if (context) context.parentData[context.parentDataProperty] = text.toLowerCase()
      return true
    },
  })
  ajv.addKeyword({
    keyword: 'x-maxUnits',
    type: 'string',
    schemaType: 'number',
    validate: (limit: number, text: string) => text.length <= limit,
    error: { message: ({ schema }) => `must have at most ${schema} UTF-16 code units` },
  })
  ajv.addKeyword({
    keyword: 'x-url',
    type: 'string',
    // The value true, or the start of paths that are accepted too.
    validate: (also: string | boolean, text: string) =>
      (typeof also === 'string' && text.startsWith(also)) ||
      (/^https?:/i.test(text) && URL.canParse(text)),
    error: {
      message: ({ schema }) =>
        `must be a URL that starts with https:// or http://${typeof schema === 'string' ? `, or a path that starts with ${schema}` : ''}`,
    },
  })
  ajv.addKeyword({
    keyword: 'x-maxBytes',
    type: 'object',
    schemaType: 'number',
    validate: (limit: number, value: object) => Buffer.byteLength(JSON.stringify(value)) <= limit,
    error: { message: ({ schema }) => `must be at most ${schema} bytes as JSON` },
  })
  return ajv
}

/**
 * Doesn't convert values in bodies: 123 is not a string, and null is not an empty one. Converts texts in a query or
 * path to the type in the schema, but accepts only one spelling of each value.
 */
export function validatorCompiler(): FastifySchemaCompiler<TSchema> {
  const ajv = newAjv()
  return ({ schema, httpPart }) => {
    const validate = lazily(() => ajv.compile(schema))
    const part = httpPart ?? 'body'
    return (given: unknown) => {
      const unstorable = findUnstorable(given)
      if (unstorable) {
        const field = unstorable.field || part
        return { error: badRequest({ [field]: [`${field} ${unstorable.text}`] }) }
      }
      // A missing body becomes null. The schema says whether it may be missing.
      if (part === 'body') return check(validate(), declared(schema, given) ?? null, 'body')
      const spelled = part === 'headers' ? (name: string) => name.toLowerCase() : asIs
      const { value, faults } = withTypes(schema, given as Record<string, unknown>, spelled)
      if (Object.keys(faults).length > 0) return { error: badRequest(faults) }
      return check(validate(), value, part)
    }
  }
}

/** Keeps only the fields of a body that its schema declares. Unknown fields are ignored. */
function declared(schema: TSchema, body: unknown): unknown {
  const { properties } = schema as { properties?: Record<string, unknown> }
  if (!properties || typeof body !== 'object' || !body || Array.isArray(body)) return body
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(properties, name)),
  )
}

function check(validate: ValidateFunction, value: unknown, part: string) {
  if (validate(value)) return { value }
  const details: Details = {}
  for (const error of validate.errors ?? []) {
    const field = fieldOf(error) || part
    details[field] = [...(details[field] ?? []), `${field} ${textOf(error)}`]
  }
  return { error: badRequest(details) }
}

function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath.split('/').slice(1).map(unescapePointer)
  if (keyword === 'required') path.push(String(params.missingProperty))
  return path.join('.')
}

function textOf({ keyword, message, params }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as string[]).join(', ')}`
  if (keyword === 'pattern' && params.pattern === NO_COMMA) return 'must not contain a comma'
  return message ?? 'is not valid'
}

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

interface Typed {
  value: Record<string, unknown>
  faults: Details
}

const asIs = (name: string) => name

/** `spelled` converts a name of the schema to its spelling in the request: Node lowercases headers. */
function withTypes(
  schema: TSchema,
  given: Record<string, unknown>,
  spelled: (name: string) => string,
): Typed {
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {}
  const value: Record<string, unknown> = {}
  const faults: Details = {}
  for (const [name, { type }] of Object.entries(properties)) {
    if (type === 'array') {
      const values = listOf(name, given)
      if (values.length > MOST_VALUES)
        faults[name] = [`${name} must have at most ${MOST_VALUES} values`]
      else if (values.length > 0) value[name] = values
      continue
    }
    const text = given[spelled(name)]
    if (text === undefined) continue
    if (typeof text !== 'string') faults[name] = [`${name} must be given only once`]
    else value[name] = readers[type ?? 'string']?.(text) ?? text
  }
  return { value, faults }
}

/** More values than any list accepts. Checking them one by one against a schema would take long. */
const MOST_VALUES = 1_000

/**
 * The values of a list. Clients write it as `tags=a,b`, `tags=a&tags=b`, `tags[]=a&tags[]=b` or `tags[0]=a&tags[1]=b`,
 * and may mix these forms. The numbers have no meaning, because the order of a filter's values has none. Empty values
 * and repetitions are skipped; a list without values is as if it were not there.
 */
function listOf(name: string, given: Record<string, unknown>): string[] {
  const texts = Object.entries(given).flatMap(([spelling, value]) =>
    spelling === name || (spelling.startsWith(`${name}[`) && INDEX.test(spelling))
      ? (value as string | string[])
      : [],
  )
  const values = texts.flatMap((text) => text.split(',')).map((text) => text.trim())
  return [...new Set(values.filter(Boolean))]
}

const INDEX = /^[^[]*\[\d*\]$/

/** Returns undefined for a text of another type. The schema then reports the error. */
const readers: Record<string, (text: string) => unknown> = {
  boolean: (text) => ({ true: true, 1: true, false: false, 0: false })[text],
  integer: (text) =>
    /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined,
}
