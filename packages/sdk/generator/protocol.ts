/**
 * Makes src/protocol.gen.ts: what the SDK knows of packages/protocol, as plain types. Without it the
 * declarations of the packed SDK would need that package and its schema library.
 */
import { Declarations } from './declarations.ts'
import { comment, type Schema } from './types.ts'

/** The part of packages/protocol that the SDK tells its users of. */
export interface Protocol {
  errors: object
  regions: readonly string[]
  /** The shapes that many events hold, by the names they get. */
  records: Record<string, Schema>
  events: Record<string, { summary: string; payload: Schema }>
}

const HEAD = '// Made by `npm run generate` from packages/protocol. Do not edit.\n'

export function protocolFile({ errors, regions, records, events }: Protocol): string {
  const declarations = new Declarations()
  for (const [name, schema] of Object.entries(records)) declarations.record(name, schema)
  const payloads = Object.entries(events).map(
    ([type, { summary, payload }]) =>
      `${comment(summary)}'${type}': ${declarations.answer(payload)}`,
  )
  return [
    HEAD,
    `/** Why the service refused something. */\nexport type ErrorCode = ${oneOf(Object.keys(errors))}`,
    `/** Where apps can live. */\nexport type Region = ${oneOf(regions)}`,
    ...declarations.texts,
    `/** What each type of event holds. */\nexport interface EventPayloads {\n${payloads.join('\n')}\n}`,
    'export type EventType = keyof EventPayloads',
    'export type EventPayload<T extends EventType> = EventPayloads[T]\n',
  ].join('\n\n')
}

const oneOf = (names: readonly string[]) => names.map((name) => `'${name}'`).join(' | ')
