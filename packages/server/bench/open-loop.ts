/** Requests at a fixed rate, whether or not earlier ones are answered, and how long each took. */
import { setTimeout as sleep } from 'node:timers/promises'
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
  return [...begun].map(([name, at]) => (sender.answers.get(name) ?? Infinity) - at)
}

export const openSender = ({ port }: OpenLoop): Promise<Sender> => Sender.open(port, CONNECTIONS)

/** Returns when each request was sent: milliseconds, by the machine's clock. Doesn't wait for the last answers. */
export async function sendAll(sender: Sender, load: OpenLoop): Promise<Map<string, number>> {
  const { perSecond, seconds, requests } = load
  const begun = new Map<string, number>()
  const started = performance.now()
  for (let nth = 0; nth < perSecond * seconds; nth++) {
    const early = started + (nth / perSecond) * 1000 - performance.now()
    if (early > 0) await sleep(early)
    const request = requests[Math.floor(Math.random() * requests.length)] ?? ''
    begun.set(String(nth), performance.timeOrigin + performance.now())
    sender.send(String(nth), uniqueText(request))
  }
  return begun
}

/** The value that this share of the values doesn't exceed. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
