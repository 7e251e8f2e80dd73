export { type ErrorCode, errors } from './errors.ts'
export { type EventPayload, type EventType, events } from './events.ts'
export { RoleRecord, UserRecord } from './records.ts'
export { type Region, regions } from './regions.ts'
