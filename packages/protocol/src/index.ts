export { type EventPayload, type EventType, events } from './events.ts'
export { type Region, regions } from './regions.ts'
