/** Many users with tokens, inserted in one statement, and devices that always reconnect. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Deps } from '../src/deps.ts'
import type { Cell } from '../src/platform/cells/directory.ts'

export interface BulkUser {
  uid: string
  token: string
}

/** Adds the users `u0`, `u1` … to an app. */
export async function addBulkUsers(
  { secrets }: Pick<Deps, 'secrets'>,
  app: { no: number; cell: Cell },
  count: number,
): Promise<BulkUser[]> {
  const people = Array.from({ length: count }, (_, n) => {
    return { uid: `u${n}`, token: `u${n}_${randomBytes(20).toString('hex')}` }
  })
  const rows = people.map(({ uid, token }) => ({ uid, hash: secrets.hash(token).toString('hex') }))
  await app.cell.db.query({
    name: '',
    text: `with people as (
       select uid, decode(hash, 'hex') as hash
       from json_to_recordset($2::json) as p (uid text, hash text)
     ), made as (
       insert into users (app_no, uid, name, role) select $1::int, uid, uid, 'default' from people
     )
     insert into auth_tokens (app_no, token_hash, token_sealed, uid)
     select $1::int, hash, '', uid from people`,
    values: [app.no, JSON.stringify(rows)],
  })
  return people
}

/** A device that follows docs/realtime.md: it reconnects after each loss and resumes. */
export class ReconnectingDevice {
  /** Message ids by conversation, in the order of their arrival. */
  readonly messages = new Map<string, string[]>()
  received = 0
  connects = 0
  reloads = 0
  /** How its connections ended, and when. */
  readonly ends: { code: number; at: number }[] = []
  /** When its last connection was accepted. */
  readyAt = 0
  position: number | undefined
  #ws: WebSocket | undefined
  #ended = false
  readonly #appId: string
  readonly #token: string
  readonly #portOf: () => number

  constructor(appId: string, { token }: BulkUser, portOf: () => number) {
    this.#appId = appId
    this.#token = token
    this.#portOf = portOf
    this.#connect()
  }

  get open(): boolean {
    return this.#ws?.readyState === WebSocket.OPEN && this.readyAt > 0
  }

  end(): void {
    this.#ended = true
    this.#ws?.terminate()
  }

  #connect(): void {
    const url = `ws://127.0.0.1:${this.#portOf()}/v3/realtime?appId=${this.#appId}`
    const ws = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: 20_000 })
    this.#ws = ws
    ws.on('error', () => {})
    ws.on('open', () => {
      this.connects++
      const position = this.position
      const body = { authToken: this.#token, ...(position !== undefined && { position }) }
      ws.send(JSON.stringify({ type: 'auth', body }))
    })
    ws.on('message', (data) => this.#hear(JSON.parse(String(data))))
    ws.on('close', (code) => {
      this.ends.push({ code, at: performance.now() })
      void this.#again()
    })
  }

  async #again(): Promise<void> {
    this.readyAt = 0
    if (this.#ended) return
    await sleep(100 + Math.random() * 900)
    if (!this.#ended) this.#connect()
  }

  // biome-ignore lint/suspicious/noExplicitAny: frames of many shapes
  #hear({ type, position, body }: any): void {
    if (type === 'session.ready' || type === 'session.reload') {
      this.readyAt = performance.now()
      if (type === 'session.reload') this.reloads++
      if (type === 'session.reload' || !body.resumed) this.position = body.position
    }
    if (position !== undefined) this.position = position
    if (type !== 'message.sent') return
    const { conversationId, id } = body.message
    const ids = this.messages.get(conversationId)
    if (ids) ids.push(id)
    else this.messages.set(conversationId, [id])
    this.received++
  }
}
