/**
 * Checks that the SDK's plain types equal those of packages/protocol. Nothing here runs: `npm run check` fails if they differ.
 */
import type * as protocol from '@loquat/protocol'
import type { ErrorCode, EventPayload, EventType, Message, Region } from '../src/index.ts'

interface Sdk {
  code: ErrorCode
  region: Region
  payloads: { [T in EventType]: EventPayload<T> }
}

interface Protocol {
  code: protocol.ErrorCode
  region: protocol.Region
  payloads: { [T in protocol.EventType]: protocol.EventPayload<T> }
}

/** The SDK tells the kinds of messages apart, packages/protocol doesn't. */
type Loose<T> = T extends Message
  ? protocol.MessageRecord
  : T extends object
    ? { [K in keyof T]: Loose<T[K]> }
    : T

export const fromProtocol = (theirs: Protocol): Loose<Sdk> => theirs
export const toProtocol = (ours: Sdk): Protocol => ours
