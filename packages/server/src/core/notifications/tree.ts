/** Trees of settings: a schema says which fields there are, and their defaults. Only what differs from them is stored. */
import { isDeepStrictEqual } from 'node:util'
import { type Static, type TSchema, Type } from 'typebox'

type Value = unknown
type Fields = Record<string, Value>

/** Some fields of a tree. */
export type Changes<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Changes<T[K]> }
    : T

interface Node {
  properties?: Record<string, Node>
  default?: Value
  required?: Value
  additionalProperties?: Value
  'x-component'?: Value
}

/** The schema of a request that changes some fields: without defaults, which validation would fill in. */
export const ChangesOf = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Changes<Static<T>>>(optional(schema as Node))

function optional(node: Node): Node {
  const { default: _default, required: _required, 'x-component': _name, ...kept } = node
  if (!node.properties) return kept
  const { additionalProperties: _closed, ...open } = kept
  return { ...open, properties: mapFields(node.properties, optional) }
}

const mapFields = <A, B>(fields: Record<string, A>, to: (value: A, name: string) => B) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, to(value, name)]))

/** What holds if nothing was changed. */
export const defaultsOf = <T extends TSchema>(schema: T): Static<T> =>
  defaults(schema as Node) as Static<T>

function defaults(node: Node): Value {
  if (!node.properties) return node.default
  return present(mapFields(node.properties, defaults))
}

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const isFields = (value: Value): value is Fields => typeof value === 'object' && value !== null

/** A tree with changes. Fields that the schema doesn't know are left out. */
export const overlay = <T extends TSchema, B>(schema: T, base: B, changes: Changes<Static<T>>): B =>
  merged(schema as Node, base, changes) as B

function merged({ properties }: Node, base: Value, changes: Value): Value {
  if (!properties || (base === undefined && changes === undefined)) return changes ?? base
  const [own, other] = [isFields(base) ? base : {}, isFields(changes) ? changes : {}]
  return present(mapFields(properties, (node, name) => merged(node, own[name], other[name])))
}

/** The fields of a tree that differ from the defaults. */
export const differing = <T extends TSchema>(
  schema: T,
  tree: Changes<Static<T>>,
): Changes<Static<T>> => (difference(schema as Node, tree) ?? {}) as Changes<Static<T>>

function difference(node: Node, value: Value): Value {
  if (!node.properties) return isDeepStrictEqual(value, node.default) ? undefined : value
  if (!isFields(value)) return undefined
  const own = present(mapFields(node.properties, (inner, name) => difference(inner, value[name])))
  return Object.keys(own).length > 0 ? own : undefined
}
