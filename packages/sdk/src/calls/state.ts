import type { EventPayload } from '../events.gen.ts'
import type { CallStream } from './web.ts'

/** A call as events show it. */
export type Call = EventPayload<'call.incoming'>['call']

/** A device of another user in the call. */
export interface CallParticipant {
  readonly uid: string
  readonly name: string
  readonly deviceId?: string
  /** Whether the microphone and the camera are on. */
  readonly audio: boolean
  readonly video: boolean
  /** What it sends, once it arrives. */
  readonly stream?: CallStream
  /** The screen that it shares. */
  readonly screen?: CallStream
  /** Whether its audio and video arrive. */
  readonly connected: boolean
}

/**
 * `ringing`: nobody has answered yet. `connecting`: answered, but nothing was sent yet. `reconnecting`: the connection to the
 * media server was lost.
 */
export type CallPhase = 'ringing' | 'connecting' | 'ongoing' | 'reconnecting'

/** The call that this device is in. */
export interface CurrentCall {
  readonly call: Call
  readonly phase: CallPhase
  readonly microphone: boolean
  readonly camera: boolean
  readonly sharing: boolean
  /** Whether the call is recorded. Show it to the user. */
  readonly recording: boolean
  /** What this device sends. */
  readonly local?: CallStream
  readonly screen?: CallStream
  readonly participants: readonly CallParticipant[]
  /** Who speaks, of the others. */
  readonly speaker?: string
  /**
   * Why this device sends nothing, or not all: a `LoquatError`, such as ERR_CALL_MEDIA_UNAVAILABLE, or what the browser said,
   * such as `NotAllowedError`.
   */
  readonly error?: Error
}

export interface CallsState {
  /** Calls that ring on this device, the oldest first. */
  readonly incoming: readonly Call[]
  readonly current?: CurrentCall
}

/** What `calls.on` reports. */
export interface CallEvents {
  incoming: Call
  /** A call that rang here was answered on another device, or is over. */
  stopped: Call
  /** The call of this device is over, or this device left it. */
  ended: Call
  error: Error
}
