/** Prints JSON schemas as TypeScript types. */

export interface Schema {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[] | undefined
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, object>
}

/** How to print types. */
export interface Printing {
  /** Whether the type is an argument. Its optional fields may be undefined, which JSON leaves out. */
  input: boolean
  /** The name of a shape, if it has one. */
  nameOf?: (shape: string) => string | undefined
}

export const typeOf = (schema: Schema, printing: Printing): string =>
  printing.nameOf?.(shapeOf(schema)) ?? shapeOf(schema, printing)

/** Prints the type itself in full. Types inside it may be printed by name. */
export function shapeOf(schema: Schema, printing: Printing = { input: false }): string {
  const { type, anyOf, allOf } = schema
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (anyOf) return union(anyOf.map((part) => typeOf(part, printing)))
  if (allOf) return allOf.map((part) => `(${typeOf(part, printing)})`).join(' & ')
  if (Array.isArray(type))
    return union(type.map((one) => simple({ ...schema, type: one }, printing)))
  return simple(schema, printing)
}

const union = (parts: string[]) => [...new Set(parts)].join(' | ')

function simple(schema: Schema, printing: Printing): string {
  switch (schema.type) {
    case 'string':
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
  const [others = schema.additionalProperties] = Object.values(schema.patternProperties ?? {})
  if (!properties)
    return `Record<string, ${typeof others === 'object' ? typeOf(others, printing) : 'unknown'}>`
  const fields = Object.entries(properties).map(([name, field]) => {
    const required = schema.required?.includes(name)
    const type = typeOf(field, printing)
    const value = required || !printing.input ? type : `${type} | undefined`
    return `${comment(field.description)}${JSON.stringify(name)}${required ? '' : '?'}: ${value}`
  })
  return `{\n${fields.join('\n')}\n}`
}

export const comment = (text: string | undefined) =>
  text ? `/** ${text.replaceAll('*/', '* /')} */\n` : ''
