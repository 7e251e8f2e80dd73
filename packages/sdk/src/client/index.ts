export type { Address } from '../address.ts'
export type { RunningAnswer } from '../agents/answers.ts'
export { type ClientErrorCode, LoquatError } from '../error.ts'
export type { EventPayload, EventType } from '../events.gen.ts'
export type * from '../operations.gen.ts'
export type { ErrorCode, Region } from '../protocol.gen.ts'
export type { CallOptions } from '../transport.ts'
export { type CallSignal, type ClientOptions, type Draft, LoquatClient } from './client.ts'
export type { ConnectionState, Socket } from './connection.ts'
export type { Watched } from './presence.ts'
export type { PushDevice, PushRegistration, PushSubscription } from './push.ts'
export {
  type ChatMessage,
  type ChatState,
  type Room,
  type Target,
  targetOf,
} from './state.ts'
export type { TokenOptions } from './token.ts'
export type { FileOptions, PictureOptions, UploadOptions } from './uploads.ts'
