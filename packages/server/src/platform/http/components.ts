/** A JSON schema, or any other part of an OpenAPI document. */
type Json = { [name: string]: unknown }

/**
 * Moves named schemas to `components.schemas`. A schema has the name in `x-component`, and a reference replaces it wherever
 * it occurs. `documented` describes some schemas in more detail than the server needs to check or serialize them.
 */
export class Components {
  readonly #schemas = new Map<string, Json>()
  readonly #documented: Record<string, object>

  constructor(documented: Record<string, object>) {
    this.#documented = documented
  }

  /** The named schemas found so far, by name. */
  get schemas(): Record<string, Json> {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** Copies part of a document, with references instead of named schemas. */
  refer(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.refer(item))
    if (typeof value !== 'object' || value === null) return value
    const { 'x-component': name, 'x-narrows': narrows, ...schema } = value as Json
    if (typeof name !== 'string') return this.#copy(schema)
    this.#define(name, schema)
    return { $ref: `#/components/schemas/${name}`, ...this.#besides(name, schema, narrows) }
  }

  #copy(schema: Json): Json {
    const { patternProperties, ...others } = schema
    const copy = Object.fromEntries(
      Object.entries(others).map(([keyword, inner]) => [keyword, this.refer(inner)]),
    )
    // Clients in other languages know no patterns of names. Ours match every name.
    if (patternProperties) {
      const [values] = Object.values(patternProperties)
      copy.additionalProperties = this.refer(values)
    }
    return isTextEnum(copy) ? { type: 'string', ...copy } : copy
  }

  #define(name: string, found: Json): void {
    const { 'x-component': _name, ...schema } = (this.#documented[name] ?? found) as Json
    const known = this.#schemas.get(name)
    if (isOnlyName(schema) || (known && this.#documented[name])) return
    // A schema can contain itself.
    if (this.#documented[name]) this.#schemas.set(name, {})
    const copy = this.#copy(schema)
    if (known && shapeOf(known) !== shapeOf(copy))
      throw new Error(`Two different schemas are named ${name}. Rename one of them.`)
    if (!known) this.#schemas.set(name, copy)
  }

  /** What the document says in this place besides the reference. */
  #besides(name: string, schema: Json, narrows: unknown): Json {
    const { description, properties } = schema as { description?: string; properties?: Json }
    const besides: Json = {}
    if (description && description !== this.#schemas.get(name)?.description)
      besides.description = description
    if (Array.isArray(narrows)) {
      const narrower = narrows.map((field: string) => [field, this.refer(properties?.[field])])
      besides.properties = Object.fromEntries(narrower)
    }
    return besides
  }
}

/** A schema as text. Its description can differ from place to place. */
const shapeOf = ({ description: _description, ...schema }: Json) => JSON.stringify(schema)

/** Whether a schema only refers to another one by its name. */
const isOnlyName = (schema: Json) =>
  Object.keys(schema).every((keyword) => keyword === 'description')

const isTextEnum = (schema: Json) =>
  schema.type === undefined &&
  Array.isArray(schema.enum) &&
  schema.enum.every((value) => typeof value === 'string')
