/** Prints JSON schemas as TypeScript types. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[] | undefined
  additionalProperties?: boolean | Schema
  /** A number that JSON shows as a string. The SDK converts it. */
  'x-count'?: true
  /** The field of a request with which the operation returns this schema. */
  'x-with'?: string
}

/** How to print types. */
export interface Printing {
  /** Whether the type is an argument. Its optional fields may be undefined, which JSON leaves out. */
  input: boolean
}

/** The name of the component that a schema refers to. */
export const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1)

/** Prints a type. Components are printed by their name. */
export function typeOf(schema: Schema, printing: Printing): string {
  const { type, allOf } = schema
  const name = nameOf(schema)
  if (name) return name
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const kinds = schema.anyOf ?? schema.oneOf
  if (kinds) return union(kinds.map((part) => typeOf(part, printing)))
  if (allOf) return allOf.map((part) => `(${typeOf(part, printing)})`).join(' & ')
  if (Array.isArray(type))
    return union(type.map((one) => simple({ ...schema, type: one }, printing)))
  return simple(schema, printing)
}

const union = (parts: string[]) => [...new Set(parts)].join(' | ')

function simple(schema: Schema, printing: Printing): string {
  switch (schema.type) {
    case 'string':
      return schema['x-count'] ? 'number' : 'string'
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `(${typeOf(schema.items ?? {}, printing)})[]`
    case 'object':
      return objectType(schema, printing)
  }
  if (Object.keys(schema).every((keyword) => keyword === 'description')) return 'unknown'
  throw new Error(
    `Unsupported schema: ${JSON.stringify(schema)}. Add support for it to generator/types.ts of the SDK.`,
  )
}

function objectType({ properties, ...schema }: Schema, printing: Printing): string {
  const { additionalProperties: others } = schema
  if (!properties)
    return `Record<string, ${typeof others === 'object' ? typeOf(others, printing) : 'unknown'}>`
  const fields = Object.entries(properties).map(([name, field]) => {
    const required = schema.required?.includes(name)
    const type = typeOf(field, printing)
    const value = required || !printing.input ? type : `${type} | undefined`
    return `${comment(field.description)}${JSON.stringify(name)}${required ? '' : '?'}: ${value}`
  })
  if (others === true) fields.push('[field: string]: unknown')
  if (typeof others === 'object') {
    // An index signature must allow the types of all properties.
    const types = [others, ...Object.values(properties)].map((field) => typeOf(field, printing))
    fields.push(`[name: string]: ${union(types)}`)
  }
  return `{\n${fields.join('\n')}\n}`
}

export const comment = (text: string | undefined) =>
  text ? `/** ${text.replaceAll('*/', '* /')} */\n` : ''
