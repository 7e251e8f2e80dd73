/** Makes src/operations.gen.ts from the OpenAPI document: a class of methods for each tag. */
import { Declarations } from './declarations.ts'
import { type Document, type Operation, readOperations } from './document.ts'
import { type Method, methodsOf } from './methods.ts'
import { capitalized } from './names.ts'
import type { Schema } from './types.ts'

const HEAD = `// Made by \`npm run generate\` from the OpenAPI document. Do not edit.
import { segment } from './address.ts'
import { everyFollowing, everyRecord } from './pages.ts'
import type { CallOptions, Transport } from './transport.ts'

/** One page of a list. */
export type Page<T> = { data: T[]; meta: PageMeta }
`

/** `shared` are the shapes that many answers have, by the names they get; `PageMeta` is one. */
export function operationsFile(
  document: Document,
  shared: Record<string, Schema>,
  name = 'Operations',
): string {
  const { methods, declarations } = readMethods(document, shared)
  assertDistinct(methods)
  const namespaces = Map.groupBy(methods, ({ namespace }) => namespace)
  const classes = [...namespaces].map(([namespace, own]) => methodsClass(namespace, own))
  return [
    HEAD,
    ...declarations.texts,
    ...classes,
    operationsClass(name, [...namespaces.keys()]),
  ].join('\n\n')
}

/** The methods for a document, and the types that they name. */
export function readMethods(document: Document, shared: Record<string, Schema>) {
  const operations = readOperations(document)
  const declarations = new Declarations()
  for (const [name, schema] of Object.entries(shared)) declarations.record(name, schema)
  for (const operation of operations) nameRecord(operation, declarations)
  const methods = operations.flatMap((operation) => methodsOf(operation, declarations))
  return { methods, declarations }
}

/** What `getUser` answers with is a `User`, in the answers of other operations too. */
function nameRecord({ operationId, answer }: Operation, declarations: Declarations): void {
  const noun = /^get([A-Z]\w*)$/.exec(operationId)?.[1]
  const data = answer.properties?.data
  if (noun && data?.properties) declarations.record(noun, data)
}

function assertDistinct(methods: Method[]): void {
  const byName = Map.groupBy(methods, ({ namespace, name }) => `${namespace}.${name}`)
  for (const [name, same] of byName) {
    if (same.length === 1) continue
    const operationIds = same.map(({ operationId }) => operationId).join(' and ')
    throw new Error(`${operationIds} would both be ${name}. Give one of them another verb or tag.`)
  }
}

const classNameOf = (namespace: string) => `${capitalized(namespace)}Methods`

const methodsClass = (namespace: string, methods: Method[]) => `
/** \`client.${namespace}\` */
export class ${classNameOf(namespace)} {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  ${methods.map(({ code }) => code).join('\n')}
}`

const operationsClass = (name: string, namespaces: string[]) => `
/** Every operation, by area. */
export class ${name} {
  ${namespaces.map((name) => `readonly ${name}: ${classNameOf(name)}`).join('\n')}

  constructor(transport: Transport) {
    ${namespaces.map((name) => `this.${name} = new ${classNameOf(name)}(transport)`).join('\n')}
  }
}`
