/** A server that speaks as much of Janus' HTTP protocol as calls need, and waits where a test wants it to. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { ANSWER } from './sdp.ts'

interface Message {
  janus: string
  transaction: string
  apisecret?: string
  body?: { request: string; room: number }
}

export interface ScriptedJanus {
  address: string
  /** The rooms that it has, with the sessions that send something there. */
  rooms: Map<number, Set<number>>
  sessions: Set<number>
  /** How many rooms were made. */
  readonly made: number
  /** Holds the next request to the plugin with this name. Resolves when it is there, with a function that lets it go on. */
  hold(request: string): Promise<() => void>
  stop(): void
}

const NO_SUCH_ROOM = 426
const ROOM_EXISTS = 427
const UNAUTHORIZED = 403

export async function startScriptedJanus(secret?: string): Promise<ScriptedJanus> {
  const rooms: ScriptedJanus['rooms'] = new Map()
  const sessions = new Set<number>()
  /** What a session gets when it polls. */
  const events = new Map<number, object>()
  const held = new Map<string, (go: () => void) => void>()
  let last = 0
  let made = 0

  const actions: Record<string, (room: number, session: number) => object> = {
    create(room) {
      if (rooms.has(room)) return { error_code: ROOM_EXISTS, error: 'Room already exists' }
      rooms.set(room, new Set())
      made++
      return { videoroom: 'created', room }
    },
    destroy(room) {
      const known = rooms.delete(room)
      return known ? { videoroom: 'destroyed', room } : { error_code: NO_SUCH_ROOM, error: 'None' }
    },
    joinandconfigure(room, session) {
      rooms.get(room)?.add(session)
      return { videoroom: 'joined', room, id: session }
    },
    list: () => ({
      videoroom: 'success',
      list: [...rooms.values()].map(({ size }) => ({ num_participants: size })),
    }),
  }

  async function answerPlugin(session: number, { transaction, body }: Message): Promise<object> {
    const { request, room } = body ?? { request: '', room: 0 }
    const onHeld = held.get(request)
    held.delete(request)
    if (onHeld) await new Promise<void>((resolve) => onHeld(resolve))
    const plugindata = { data: actions[request]?.(room, session) }
    if (request !== 'joinandconfigure') return { janus: 'success', transaction, plugindata }
    const jsep = { type: 'answer', sdp: ANSWER }
    events.set(session, { janus: 'event', transaction, plugindata, jsep })
    return { janus: 'ack', transaction }
  }

  async function answer(session: number, message: Message): Promise<object> {
    const { janus, transaction } = message
    if (message.apisecret !== secret)
      return { janus: 'error', transaction, error: { code: UNAUTHORIZED, reason: 'Unauthorized' } }
    if (janus === 'message') return answerPlugin(session, message)
    if (janus === 'destroy') {
      sessions.delete(session)
      for (const senders of rooms.values()) senders.delete(session)
    }
    const id = ++last
    if (janus === 'create') sessions.add(id)
    return { janus: 'success', transaction, data: { id } }
  }

  const server = createServer(async (request, response) => {
    const session = Number(request.url?.split(/[/?]/)[2])
    const reply =
      request.method === 'POST'
        ? await answer(session, (await json(request)) as Message)
        : [events.get(session)]
    response.end(JSON.stringify(reply))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `janus+http://127.0.0.1:${(server.address() as AddressInfo).port}/janus`,
    rooms,
    sessions,
    get made() {
      return made
    },
    hold: (request) => new Promise((resolve) => held.set(request, resolve)),
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
