import type { Bus } from '../bus/bus.ts'
import type { Logger } from '../log/log.ts'

/** The subject on which each event of an app is published once, with its position. */
export const appSubject = (appNo: number) => `app.${appNo}`

/** The subject on which a cell's processes hear how far the logs of its apps have come. */
export const sequencedSubject = (cellId: string) => `sequenced.${cellId}`

/** The last position of each app that has new ones. */
export type Sequenced = Record<number, number>

/** What ends each event: see sequence_events. */
const END = '\x1e'

/**
 * Publishes the events of a step of the sequencer, after its commit. Whatever is lost here is found
 * by the dense positions: readers take the log for the truth.
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
      // NATS takes no message above its limit; the log holds it all the same.
      log.warn({ err: error, app: appNo }, 'an event was not published')
    }
  }
  bus.publish(sequencedSubject(cellId), JSON.stringify(last))
}
