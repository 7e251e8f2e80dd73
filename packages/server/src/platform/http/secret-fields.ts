/** Marks a field of a body whose value, with everything in it, must not be recorded. */
export const SECRET = { 'x-secret': true }

interface Schema {
  'x-secret'?: boolean
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** A copy of the value in which `***` replaces what its schema marks as secret. */
export function hideSecretFields(schema: Schema | undefined, value: unknown): unknown {
  if (schema?.['x-secret'] && value) return '***'
  if (!schema || typeof value !== 'object' || value === null) return value
  const { properties, patternProperties = {}, items, anyOf = [] } = schema
  const [anyName] = Object.values(patternProperties)
  const hidden = Array.isArray(value)
    ? value.map((item) => hideSecretFields(items, item))
    : Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [
          name,
          hideSecretFields(properties?.[name] ?? anyName, inner),
        ]),
      )
  return anyOf.reduce<unknown>((before, kind) => hideSecretFields(kind, before), hidden)
}
