/** An app whose sends, lists and live frames are timed, at a fixed rate. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { latenciesOf, percentile } from './open-loop.ts'
import { requestOf } from './processes.ts'
import { type SendData, TEXT } from './send-data.ts'
import { Sender } from './sender.ts'

export const parts = ['send', 'list', 'frame'] as const
export type Probed = Record<(typeof parts)[number], { p50: number; p99: number }>

const SENDS_PER_SECOND = 20
const LISTS_PER_SECOND = 10
const PAIRS = 20
const CONNECTIONS = 32
/** Frames that haven't arrived so long after the last send never will. */
const FRAME_MS = 5_000

interface Ports {
  apiPort: number
  gatewayPort: number
}

export class Probe {
  readonly #data: SendData
  readonly #ports: Ports
  readonly #devices: WebSocket[] = []
  /** When the frame of each message arrived, by muid. */
  readonly #frames = new Map<string, number>()
  #runs = 0

  private constructor(data: SendData, ports: Ports) {
    this.#data = data
    this.#ports = ports
  }

  static async open(data: SendData, ports: Ports): Promise<Probe> {
    const probe = new Probe(data, ports)
    for (const { receiver } of data.pairs.slice(0, PAIRS)) await probe.#connect(receiver)
    return probe
  }

  async run(seconds: number): Promise<Probed> {
    const run = ++this.#runs
    const [sends, lists] = await Promise.all([this.#open(), this.#open()])
    const pairs = this.#data.pairs.slice(0, PAIRS)
    const send = (name: string, nth: number) => {
      const { sender, receiver } = pairs[nth % PAIRS] ?? { sender: '', receiver: '' }
      const muid = `${run}-${name}`
      const message = { receiverType: 'user', receiver, data: { text: TEXT }, muid }
      const body = JSON.stringify(message)
      return requestOf(this.#data.app, { line: 'POST /v3/messages', uid: sender, body, key: muid })
    }
    const list = (_name: string, nth: number) => {
      const { sender: uid } = pairs[nth % PAIRS] ?? { sender: '' }
      return requestOf(this.#data.app, { line: 'GET /v3/conversations?perPage=50', uid })
    }
    const [sent, listed] = await Promise.all([
      sends.sendAt(SENDS_PER_SECOND, seconds, send),
      lists.sendAt(LISTS_PER_SECOND, seconds, list),
    ])
    await Promise.all([sends.close(), lists.close()])
    const arrived = new Map(
      [...sent.keys()].map((name) => [name, this.#frames.get(`${run}-${name}`)]),
    )
    const late = performance.now() + FRAME_MS
    while ([...arrived.values()].includes(undefined) && performance.now() < late) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      for (const name of arrived.keys()) arrived.set(name, this.#frames.get(`${run}-${name}`))
    }
    this.#frames.clear()
    const of = (begun: Map<string, number>, answers: Map<string, number | undefined>) => {
      const latencies = latenciesOf(begun, answers)
      return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
    }
    return {
      send: of(sent, sends.answers),
      list: of(listed, lists.answers),
      frame: of(sent, arrived),
    }
  }

  close(): void {
    for (const device of this.#devices) device.terminate()
  }

  #open(): Promise<Sender> {
    return Sender.open(this.#ports.apiPort, CONNECTIONS)
  }

  async #connect(uid: string): Promise<void> {
    const { id, apiKey } = this.#data.app
    const { apiPort, gatewayPort } = this.#ports
    const answer = await fetch(`http://127.0.0.1:${apiPort}/v3/users/${uid}/auth_tokens`, {
      method: 'POST',
      headers: { appid: id, apikey: apiKey, 'content-type': 'application/json' },
      body: '{}',
    })
    const { data } = (await answer.json()) as { data: { authToken: string } }
    const device = new WebSocket(`ws://127.0.0.1:${gatewayPort}/v3/realtime?appId=${id}`)
    await once(device, 'open')
    device.send(JSON.stringify({ type: 'auth', body: { authToken: data.authToken } }))
    await once(device, 'message')
    device.on('message', (text: Buffer) => {
      const at = performance.timeOrigin + performance.now()
      const { type, body } = JSON.parse(text.toString())
      if (type === 'message.sent' && body.message.muid) this.#frames.set(body.message.muid, at)
    })
    this.#devices.push(device)
  }
}
