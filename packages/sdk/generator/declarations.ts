import { type Schema, shapeOf, typeOf } from './types.ts'

/** Collects the named types of a generated file. */
export class Declarations {
  readonly #records = new Map<string, { name: string; schema: Schema }>()
  readonly #others: string[] = []
  readonly #taken = new Set(['Operations', 'Page', 'CallOptions', 'Transport'])

  /** Uses this name for the shape in all responses. If a shape gets two names, the first one wins. */
  record(name: string, schema: Schema): void {
    const shape = shapeOf(schema)
    if (this.#records.has(shape)) return
    this.#take(name)
    this.#records.set(shape, { name, schema })
  }

  /** Declares the type of an argument. */
  input(name: string, schema: Schema): string {
    return this.#declare(name, typeOf(schema, { input: true }))
  }

  /** Prints the type of a response. */
  answer(schema: Schema): string {
    return typeOf(schema, { input: false, nameOf: this.#nameOf })
  }

  /** Prints the type of a response. Declares it under the name if it has several lines. */
  namedAnswer(name: string, schema: Schema): string {
    const type = this.answer(schema)
    return type.includes('\n') ? this.#declare(name, type) : type
  }

  get texts(): string[] {
    const records = [...this.#records.values()].map(({ name, schema }) =>
      declaration(name, shapeOf(schema, { input: false, nameOf: this.#nameOf })),
    )
    return [...records, ...this.#others]
  }

  readonly #nameOf = (shape: string) => this.#records.get(shape)?.name

  #declare(name: string, type: string): string {
    this.#take(name)
    this.#others.push(declaration(name, type))
    return name
  }

  #take(name: string): void {
    if (this.#taken.has(name))
      throw new Error(`Two types of the SDK would be named ${name}. Rename one of the operations.`)
    this.#taken.add(name)
  }
}

const declaration = (name: string, type: string) => `export type ${name} = ${type}`
