import type { Bus } from '../bus/bus.ts'
import type { Logger } from '../log/log.ts'

/** The NATS subject of an app's events. Each event is published once, with its position. */
export const appSubject = (appNo: number) => `app.${appNo}`

/** The NATS subject of the last positions in a cell. */
export const sequencedSubject = (cellId: string) => `sequenced.${cellId}`

/** The last position of each app that has new events. */
export type Sequenced = Record<number, number>

/** The separator between events: see sequence_events. */
const END = '\x1e'

/**
 * Publishes the events of a sequencer step after its commit. Readers notice lost events by gaps in the positions,
 * and read them from the log.
 */
export function publishEvents(
  { bus, log }: { bus: Bus; log: Logger },
  cellId: string,
  live: string,
): void {
  const last: Sequenced = {}
  for (const record of live.split(END)) {
    const space = record.indexOf(' ')
    if (space < 0) continue
    const appNo = Number(record.slice(0, space))
    const event = record.slice(space + 1)
    const position = Number.parseInt(event.slice('{"position":'.length), 10)
    last[appNo] = Math.max(last[appNo] ?? 0, position)
    try {
      bus.publish(appSubject(appNo), event)
    } catch (error) {
      // NATS rejects messages above its size limit. Readers get the event from the log.
      log.warn({ err: error, app: appNo }, "couldn't publish an event")
    }
  }
  bus.publish(sequencedSubject(cellId), JSON.stringify(last))
}
