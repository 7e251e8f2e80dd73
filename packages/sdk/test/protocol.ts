/**
 * Checks that the SDK's plain types equal those of packages/protocol. Nothing here runs: `npm run check` fails if they differ.
 */
import type * as protocol from '@loquat/protocol'
import type { ErrorCode, EventPayload, EventType, Region } from '../src/index.ts'

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

export const fromProtocol = (theirs: Protocol): Sdk => theirs
export const toProtocol = (ours: Sdk): Protocol => ours
