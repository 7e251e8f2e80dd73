export {
  type Audience,
  audienceOf,
  audiences,
  EVERYONE,
  foundersOf,
  groupTopic,
  topicsOf,
  userTopic,
} from './audience.ts'
export { type CloseName, closeCodes, mayReconnect } from './close-codes.ts'
export {
  type Content,
  CustomType,
  customContent,
  type InteractiveType,
  interactiveContent,
  MEDIA_TYPES,
  mediaContent,
  NewAttachment,
  textContent,
} from './content.ts'
export { type ErrorCode, errors, impossibleErrors } from './errors/index.ts'
export { type EventPayload, type EventType, events, triggerDataOf, triggers } from './events.ts'
export {
  type ClientFrame,
  type ClientFrameType,
  clientFrames,
  realtimeLimits,
  type ServerBody,
  type ServerFrameType,
  serverFrames,
} from './frames.ts'
export { documentedRecords } from './messages.ts'
export {
  ByName,
  CALL_MODES,
  CALL_STATUSES,
  CALL_TYPES,
  CallMessageRecord,
  CallOccupant,
  type CallStatus,
  CallSummary,
  CheckFailure,
  CheckFault,
  FileRecord,
  FoundCondition,
  GROUP_TYPES,
  GroupRecord,
  type GroupType,
  MemberActionRecord,
  MessageActionRecord,
  MessageRecord,
  ReactionRecord,
  ReceiptRecord,
  RecordingRecord,
  ReviewRecord,
  RoleRecord,
  SanctionRecord,
  SCOPES,
  type Scope,
  TranscriptionRecord,
  UserRecord,
  UserSnapshot,
  WebhookRecord,
} from './records.ts'
export { type Region, regions } from './regions.ts'
