/**
 * The plain types of the SDK say what packages/protocol says. Nothing here runs: `npm run check` fails
 * when one is not the other.
 */
import type * as protocol from '@loquat/protocol'
import type { ErrorCode, EventPayload, EventType, Region } from '../src/index.ts'

interface Given {
  code: ErrorCode
  region: Region
  payloads: { [T in EventType]: EventPayload<T> }
}

interface Protocol {
  code: protocol.ErrorCode
  region: protocol.Region
  payloads: { [T in protocol.EventType]: protocol.EventPayload<T> }
}

export const fromProtocol = (theirs: Protocol): Given => theirs
export const toProtocol = (ours: Given): Protocol => ours
