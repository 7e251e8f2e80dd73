/** A device in a test: one WebSocket and everything that it has received. */
import type { EventType, ServerFrameType } from '@loquat/protocol'
import { WebSocket } from 'ws'
import type { TestApp } from './kit.ts'
import { until } from './until.ts'

export interface Frame {
  type: EventType | ServerFrameType
  id?: string
  position?: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of many shapes
  body: any
}

export interface DeviceOptions {
  position?: number
  resource?: string
}

/** Creates an auth token for the user. */
export async function tokenOf(app: TestApp, uid: string): Promise<string> {
  const { body } = await app.call('POST', `/v3/users/${uid}/auth_tokens`, { body: { force: true } })
  return body.data.authToken
}

/** Sends a text message through the REST API. */
export const send = (app: TestApp, from: string, receiver: string, text: string, kind = 'user') =>
  app.as(from).call('POST', '/v3/messages', {
    body: { receiver, receiverType: kind, category: 'message', type: 'text', data: { text } },
  })

export class Device {
  readonly frames: Frame[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  readonly ws: WebSocket
  closeCode: number | undefined

  constructor(port: number, query: string, headers: Record<string, string> = {}) {
    this.ws = new WebSocket(`ws://127.0.0.1:${port}/v3/realtime${query}`, { headers })
    this.ws.on('error', () => {})
    this.ws.on('message', (data) => this.frames.push(JSON.parse(String(data))))
    this.closed = new Promise((resolve) =>
      this.ws.on('close', (code, reason) => {
        this.closeCode = code
        resolve({ code, reason: String(reason) })
      }),
    )
  }

  /** Connects a user and waits for the answer to `auth`. */
  static async connect(
    port: number,
    app: Pick<TestApp, 'id'>,
    authToken: string,
    options: DeviceOptions = {},
  ): Promise<Device> {
    const device = new Device(port, `?appId=${app.id}`)
    await device.opened()
    device.send('auth', { authToken, ...options })
    await until(
      'an answer to auth',
      () => device.frames.length > 0 || device.closeCode !== undefined,
    )
    return device
  }

  opened(): Promise<unknown> {
    return until('it is open', () => this.ws.readyState === WebSocket.OPEN)
  }

  /** Where this device would resume. */
  get position(): number {
    return this.frames.reduce((most, { type, position, body }) => {
      const own = type === 'session.ready' && !body.resumed ? body.position : position
      return Math.max(most, own ?? 0)
    }, 0)
  }

  send(type: string, body: unknown = {}, id?: string): void {
    this.ws.send(JSON.stringify({ type, body, ...(id && { id }) }))
  }

  /** Waits for the first such frame, unless it has already arrived. */
  waitFor(type: Frame['type'], matches: (frame: Frame) => boolean = () => true): Promise<Frame> {
    const find = () => this.frames.find((frame) => frame.type === type && matches(frame))
    return until(`a frame ${type}`, () => {
      const found = find()
      if (!found && this.closeCode !== undefined) throw new Error(`closed with ${this.closeCode}`)
      return found
    })
  }

  /** The types of the logged events that it received, without those about tokens. */
  events(): string[] {
    const told = this.frames.filter(({ position }) => position !== undefined)
    return told.map(({ type }) => type).filter((type) => !type.startsWith('user.token'))
  }

  /** The texts of the messages that it received, in order. */
  texts(): string[] {
    return this.frames
      .filter(({ type }) => type === 'message.sent')
      .map(({ body }) => body.message.data.text)
  }

  /** Waits for the answer to a ping: everything that was sent before has then arrived. */
  async settled(): Promise<void> {
    const id = `settled-${this.frames.length}`
    this.send('ping', {}, id)
    await this.waitFor('session.ok', (frame) => frame.id === id)
  }

  close(): Promise<unknown> {
    this.ws.close()
    return this.closed
  }
}
