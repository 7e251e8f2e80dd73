/** Events that are never stored: only users who are connected now receive them. */
import type { Audience } from '@loquat/protocol'
import type { Bus } from '../platform/bus/bus.ts'

/** The NATS subject of an app's ephemeral events. */
export const ephemeralSubject = (appNo: number) => `ephemeral.${appNo}`

/** A typing indicator, a transient message or a piece of an agent's answer. */
export interface EphemeralEvent {
  audience: Audience & { by: string }
  frame: string
  /** Whose share of a gateway's bytes it takes, if not that of its sender. */
  share?: string
}

/** Sends an event to all gateways, from a process that isn't one. */
export const publishEphemeral = (bus: Bus, appNo: number, event: EphemeralEvent): void =>
  bus.publish(ephemeralSubject(appNo), JSON.stringify(event))
