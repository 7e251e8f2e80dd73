export { type ErrorCode, errors, impossibleErrors } from './errors.ts'
export { type EventPayload, type EventType, events, triggerDataOf, triggers } from './events.ts'
export {
  GROUP_TYPES,
  GroupRecord,
  type GroupType,
  MessageRecord,
  ReactionRecord,
  ReceiptRecord,
  RoleRecord,
  SCOPES,
  type Scope,
  UserRecord,
  WebhookRecord,
} from './records.ts'
export { type Region, regions } from './regions.ts'
