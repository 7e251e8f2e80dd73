/** Requests at a fixed rate, whether or not earlier ones are answered, and how long each took. */
import { Sender } from './sender.ts'
import { uniqueText } from './unique.ts'

const CONNECTIONS = 64

export interface OpenLoop {
  port: number
  perSecond: number
  seconds: number
  /** Complete requests as text, chosen at random. */
  requests: string[]
}

/** Milliseconds from each request to its answer. A request that was refused takes forever. */
export async function latenciesAt(load: OpenLoop): Promise<number[]> {
  const sender = await openSender(load)
  const begun = await sendAll(sender, load)
  await sender.close()
  return latenciesOf(begun, sender.answers)
}

/** From when each request was sent and when it was answered. */
export const latenciesOf = (
  begun: Map<string, number>,
  answers: Map<string, number | undefined>,
): number[] => [...begun].map(([name, at]) => (answers.get(name) ?? Infinity) - at)

export const openSender = ({ port }: OpenLoop): Promise<Sender> => Sender.open(port, CONNECTIONS)

/** Returns when each request was sent: milliseconds, by the machine's clock. Doesn't wait for the last answers. */
export async function sendAll(sender: Sender, load: OpenLoop): Promise<Map<string, number>> {
  const { perSecond, seconds, requests } = load
  const choose = () => uniqueText(requests[Math.floor(Math.random() * requests.length)] ?? '')
  return sender.sendAt(perSecond, seconds, choose)
}

/** The value that this share of the values doesn't exceed. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
