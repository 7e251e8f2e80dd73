/** An app that abuses the service, in a separate process, until its parent ends it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

export type Abuse =
  | 'lists'
  | 'deep'
  | 'search'
  | 'sends'
  | 'webhooks'
  | 'deaf'
  | 'transient'
  | 'auth'
  | 'bodies'
  | 'connections'

export interface AbuseData {
  apiPort: number
  gatewayPort: number
  appId: string
  apiKey: string
  uids: string[]
}

/** What a refused caller waits before it tries again. It ignores `Retry-After`. */
const PAUSE_MS = 200
const GIANT = Buffer.alloc(5_000_000, 'x')

let data: AbuseData

process.once('message', async (message: { abuse: Abuse; data: AbuseData }) => {
  data = message.data
  await abuses[message.abuse]()
  process.send?.('ready')
})

const headers = (uid?: string, apikey = data.apiKey) => ({
  appid: data.appId,
  apikey,
  ...(uid && { onbehalfof: uid }),
})

const post = (path: string, body: object, uid?: string) =>
  fetch(`http://127.0.0.1:${data.apiPort}${path}`, {
    method: 'POST',
    headers: { ...headers(uid), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Keeps so many requests under way. */
function hammer(count: number, request: (nth: number) => Promise<Response>): void {
  for (let n = 0; n < count; n++) {
    void (async () => {
      for (let nth = n; ; nth += count) {
        try {
          const answer = await request(nth)
          await answer.arrayBuffer()
          if (answer.status >= 400) await sleep(PAUSE_MS)
        } catch {
          await sleep(PAUSE_MS)
        }
      }
    })()
  }
}

const get = (path: string, apikey?: string) =>
  fetch(`http://127.0.0.1:${data.apiPort}${path}`, { headers: headers(undefined, apikey) })

const uidOf = (nth: number) => data.uids[nth % data.uids.length] ?? ''

const send = (nth: number, receiver = uidOf(nth + 1)) =>
  post('/v3/messages', { receiver, receiverType: 'user', data: { text: `${nth}` } }, uidOf(nth))

/** Sends at a fixed rate. */
function sendAt(perSecond: number, receiver?: string): void {
  let nth = 0
  setInterval(() => void send(nth++, receiver).catch(() => {}), 1000 / perSecond)
}

async function tokenOf(uid: string): Promise<string> {
  const answer = await post(`/v3/users/${uid}/auth_tokens`, {})
  const { data: token } = (await answer.json()) as { data: { authToken: string } }
  return token.authToken
}

async function open(authToken?: string): Promise<WebSocket> {
  const ws = new WebSocket(`ws://127.0.0.1:${data.gatewayPort}/v3/realtime?appId=${data.appId}`)
  ws.on('error', () => {})
  await once(ws, 'open')
  if (authToken) {
    ws.send(JSON.stringify({ type: 'auth', body: { authToken } }))
    await once(ws, 'message')
  }
  return ws
}

const abuses: Record<Abuse, () => Promise<void>> = {
  async lists() {
    hammer(200, () => get('/v3/conversations?perPage=1000'))
  },
  async deep() {
    hammer(200, () => get('/v3/conversations?perPage=1000&page=50'))
  },
  async search() {
    hammer(50, (nth) => get(`/v3/messages?limit=100&searchKey=${'aeiou'[nth % 5]}${nth}`))
  },
  async sends() {
    sendAt(20_000 / 60)
  },
  async webhooks() {
    const receiver = createServer(() => {})
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    for (let n = 0; n < 25; n++) {
      const webhookURL = `http://127.0.0.1:${port}/${n}`
      await post('/v3/webhooks', { id: `hang-${n}`, name: 'Hang', webhookURL })
      await post(`/v3/webhooks/hang-${n}/triggers`, { triggerIds: ['message_sent'] })
    }
    sendAt(100)
  },
  async deaf() {
    const token = await tokenOf(uidOf(0))
    for (let n = 0; n < 90; n++) (await open(token)).pause()
    sendAt(100, uidOf(0))
  },
  async transient() {
    const tokens = await Promise.all(data.uids.slice(0, 2).map(tokenOf))
    const text = 'x'.repeat(1_800)
    for (let n = 0; n < 20; n++) {
      const reopen = async (): Promise<void> => {
        const ws = await open(tokens[n % 2])
        const body = { receiver: uidOf(n + 1), receiverType: 'user', data: { text } }
        const frame = JSON.stringify({ type: 'message.transient', body })
        const flood = setInterval(() => {
          for (let k = 0; k < 5; k++) ws.send(frame)
        }, 20)
        ws.once('close', () => {
          clearInterval(flood)
          void reopen()
        })
      }
      await reopen()
    }
  },
  async auth() {
    hammer(100, (nth) => get('/v3/users', nth.toString(16).padStart(40, '0')))
  },
  async bodies() {
    for (let n = 0; n < 50; n++) void sendGiants()
  },
  async connections() {
    const tokens = await Promise.all(data.uids.slice(0, 40).map(tokenOf))
    for (let n = 0; n < 100; n++) void openAndClose(tokens, n)
  },
}

/** Sends large bodies over and over, whatever the server says. */
async function sendGiants(): Promise<void> {
  const head = Object.entries({ host: 'localhost', ...headers(uidOf(0)) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  for (;;) {
    const socket = connect(data.apiPort, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    socket.write(
      `POST /v3/messages HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${GIANT.length}\r\n\r\n`,
    )
    socket.write(GIANT)
    await once(socket, 'close').catch(() => {})
    await sleep(PAUSE_MS)
  }
}

/** Holds twenty connections for a moment, half of them authenticated, and starts over. */
async function openAndClose(tokens: string[], nth: number): Promise<void> {
  for (;;) {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        open(n % 2 === 0 ? tokens[(nth + n) % tokens.length] : undefined).catch(() => undefined),
      ),
    )
    await sleep(1_000)
    for (const ws of sockets) ws?.terminate()
  }
}
