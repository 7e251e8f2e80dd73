export { Calls, type CallsOptions, type NewCall } from './calls.ts'
export type {
  Call,
  CallEvents,
  CallParticipant,
  CallPhase,
  CallsState,
  CurrentCall,
} from './state.ts'
export type { CallStream, CallTrack, MediaDevice, WebRtc } from './web.ts'
