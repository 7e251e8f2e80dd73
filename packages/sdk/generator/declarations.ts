import { comment, nameOf, type Schema, typeOf } from './types.ts'

/** Collects the named types of a generated file: the components of the document, and types of single operations. */
export class Declarations {
  readonly #components: Record<string, Schema>
  readonly #inputs = new Set<string>()
  readonly #others: string[] = []
  readonly #taken = new Set(['Operations', 'Page', 'CallOptions', 'Transport'])

  constructor(components: Record<string, Schema>) {
    this.#components = components
    for (const name of Object.keys(components)) this.#take(name)
  }

  /** The component that a schema refers to, or the schema itself. */
  resolve(schema: Schema): Schema {
    const name = nameOf(schema)
    return name === undefined ? schema : (this.#components[name] ?? {})
  }

  /** Prints the type of an argument. */
  argument(schema: Schema): string {
    this.#markInput(schema)
    return typeOf(schema, { input: true })
  }

  /** Prints the type of a response. */
  answer(schema: Schema): string {
    return typeOf(schema, { input: false })
  }

  /** Prints the type of a response. Declares it under the name if it has several lines. */
  namedAnswer(name: string, schema: Schema): string {
    const type = this.answer(schema)
    return type.includes('\n') ? this.declare(name, type) : type
  }

  declare(name: string, type: string): string {
    this.#take(name)
    this.#others.push(declaration(name, type))
    return name
  }

  /** The declarations, without components in `known`, which another file declares. */
  texts(known: string[] = []): string[] {
    const components = Object.entries(this.#components)
      .filter(([name]) => !known.includes(name))
      .map(([name, schema]) => {
        const type = typeOf(schema, { input: this.#inputs.has(name) })
        return `${comment(schema.description)}${declaration(name, type)}`
      })
    return [...components, ...this.#others]
  }

  /** Marks all components of an argument. */
  #markInput(schema: unknown): void {
    if (typeof schema !== 'object' || schema === null) return
    const name = nameOf(schema as Schema)
    if (name === undefined) for (const inner of Object.values(schema)) this.#markInput(inner)
    else if (!this.#inputs.has(name)) {
      this.#inputs.add(name)
      this.#markInput(this.#components[name])
    }
  }

  #take(name: string): void {
    if (this.#taken.has(name))
      throw new Error(
        `Two types of the SDK would be named ${name}. Rename one of the operations or components.`,
      )
    this.#taken.add(name)
  }
}

const declaration = (name: string, type: string) => `export type ${name} = ${type}`
