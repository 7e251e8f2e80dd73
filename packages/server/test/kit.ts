/**
 * What a test needs: a server (`useServer`), an app of its own (`server.newApp`), users and requests in their name
 * (`app.users`, `app.as`), events (`app.events`, `app.waitFor`) and refused requests (`refused`).
 */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before } from 'node:test'
import { type ErrorCode, type EventType, errors } from '@loquat/protocol'
import {
  Loquat,
  LoquatError,
  type LoquatOptions,
  type Message,
  type NewTextMessage,
  type SendMessageBody,
} from '@loquat/sdk'
import { provisionApp } from '../src/areas/apps/actions.ts'
import { readConfig } from '../src/config.ts'
import type { Deps } from '../src/deps.ts'
import type { App, Cell } from '../src/platform/cells/directory.ts'
import { type Role, type Service, serve } from '../src/serve.ts'
import { assertConforms } from './conformity.ts'
import { cloneDatabase, dropDatabase, insertCell, testEnv } from './databases.ts'
import { until } from './until.ts'

/** Cells of a test server, by id; the part before the dash is the region. */
const ONE_CELL = ['us-1']
/** A busy machine can take minutes for an answer. */
const PATIENCE_MS = 600_000

export interface TestServer {
  readonly deps: Deps
  readonly service: Service
  /** The environment in which another process serves the same data. */
  readonly env: Record<string, string>
  newApp(region?: 'us' | 'eu' | 'in'): Promise<TestApp>
}

/** Other fields of a message, valid or not. */
type More = Partial<Record<keyof NewTextMessage, unknown>>

/** An app, or one of its users. */
export interface Caller {
  /** Sends a raw request. The answer must be one that openapi.json allows. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Sends a text message, to a user by default: `more` can name a group, a parent message … */
  sendText(receiver: string, text?: string, more?: More): Promise<Message>
}

/** The SDK's client on behalf of a user, with raw requests. */
export type UserClient = Loquat & Caller

export interface TestApp extends App, Caller {
  cell: Cell
  apiKey: string
  authKey: string
  /** The SDK with the fullAccess key. Its answers are checked too, and it never retries. */
  client: Loquat
  /** The SDK with another key. */
  clientWith(apiKey: string): Loquat
  /** Acts on behalf of a user, or as the app if undefined: `app.as('ben').groups.join('team')`. */
  as(uid: string | undefined): UserClient
  /** Creates users whose names are their uids: `const [amira, ben] = await app.users('amira', 'ben')`. */
  users<U extends string[]>(...uids: U): Promise<{ [N in keyof U]: UserClient }>
  /** Sends a request to a signed URL of a file, at this server's own port. */
  fetchFile(url: string, init?: RequestInit): Promise<Response>
  /** The app's events so far, oldest first, whether the sequencer has logged them or not. */
  events(): Promise<TestEvent[]>
  /** The types of these events. */
  eventTypes(): Promise<EventType[]>
  /** Waits until the app has such an event. `Device.waitFor` is the same for a connected device. */
  waitFor(type: EventType, matches?: (event: TestEvent) => boolean): Promise<TestEvent>
}

export interface CallOptions {
  body?: unknown
  /** Another API key; null sends none. */
  apiKey?: string | null
  headers?: Record<string, string>
  /** Another process that serves the same databases. */
  port?: number
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes
  body: any
  headers: Headers
}

export interface TestEvent extends Record<string, unknown> {
  type: EventType
  key: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads of many shapes
  payload: any
}

export interface ServerOptions {
  roles?: Role[]
  cells?: string[]
  /** Changes to the configuration, made once the databases exist. */
  env?: Record<string, string>
  /** Where the console's files are. By default the server has none, whether they were built or not. */
  console?: string
}

/** A server, the environment that it was started with, and its databases. */
export interface Started {
  service: Service
  env: Record<string, string>
  urls: string[]
}

export async function startServer(options: ServerOptions): Promise<Started> {
  const { roles = ['api'], cells = ONE_CELL, env: extra = {}, console = '' } = options
  const directoryUrl = await cloneDatabase('directory')
  const urls = [directoryUrl]
  const env = testEnv(directoryUrl, cells, extra)
  for (const cellId of cells) {
    const url = await cloneDatabase('cell')
    urls.push(url)
    await insertCell(directoryUrl, cellId, url)
  }
  // This process shares the machine with many tests: a pause isn't what they are about.
  const config = readConfig({ LOQUAT_LEASE_SECONDS: '60', ...env })
  return { service: await serve(config, roles, { console }), env, urls }
}

export async function endServer({ service, urls, env }: Started): Promise<void> {
  await service.drain()
  if (env.LOQUAT_FILES_FOLDER) await rm(env.LOQUAT_FILES_FOLDER, { recursive: true, force: true })
  for (const url of urls) await dropDatabase(url)
}

/** Whether the test files of this process share a server, and that server. */
let sharing = false
let shared: Promise<Started> | undefined

/** Lets all test files of this process that need no options use one server. */
export function shareServer(): void {
  sharing = true
  after(async () => {
    if (shared) await endServer(await shared)
  })
}

/** Starts a server with databases of its own, unless `shareServer` was called. Each test makes its own apps in it. */
export function useServer(options?: ServerOptions): TestServer {
  const own = !sharing || options !== undefined
  let starting: Promise<Started> | undefined
  let started: Started

  before(async () => {
    if (own) starting = startServer(options ?? {})
    else shared ??= startServer({})
    started = await (starting ?? (shared as Promise<Started>))
  })
  // If all tests are left out by their names, this runs while the server is still starting.
  after(async () => {
    if (starting) await endServer(await starting)
  })

  return {
    get deps() {
      return started.service.deps
    },
    get service() {
      return started.service
    },
    get env() {
      return started.env
    },
    newApp: (region = 'us') => newApp(started.service, region),
  }
}

/** Fails unless the server refuses the request, raw or through the SDK, with this code and its status. Returns the error. */
export async function refused(request: Promise<unknown>, code: ErrorCode): Promise<Refusal> {
  const error = await request.then(refusalOf, (cause: unknown) => {
    if (cause instanceof LoquatError) return cause
    throw cause
  })
  assert.ok(error, `expected ${code}, but the request succeeded`)
  assert.deepEqual([error.code, error.status], [code, errors[code].status])
  return error
}

type Refusal = Pick<LoquatError, 'code' | 'status' | 'message' | 'devMessage' | 'details'>

function refusalOf(answer: unknown): Refusal | undefined {
  const { status, body } = answer as Partial<Answer>
  return body?.error && { status, ...body.error }
}

export async function newApp(
  { deps, apiPort }: Pick<Service, 'deps' | 'apiPort'>,
  region: 'us' | 'eu' | 'in' = 'us',
): Promise<TestApp> {
  const { appId, apiKey, authKey } = await provisionApp(deps, { name: 'Test', region })
  const found = await deps.directory.find(appId)
  if (!found?.cell) throw new Error('this server does not serve the new app')
  const { cell } = found
  const clientWith = (key: string) => {
    const baseUrl = `http://127.0.0.1:${apiPort}`
    const waiting = { maxRetries: 0, timeoutMs: PATIENCE_MS }
    return new Loquat({ appId, apiKey: key, baseUrl, fetch: checkedFetch, ...waiting })
  }
  const app: TestApp = {
    ...found,
    cell,
    apiKey,
    authKey,
    client: clientWith(apiKey),
    clientWith,
    call(method, path, { body, apiKey: key = apiKey, headers = {}, port = apiPort ?? 0 } = {}) {
      const own = { appid: appId, ...(key !== null && { apikey: key }), ...headers }
      return call(port, method, path, { headers: own, body })
    },
    sendText: (...message) => sendText(app.client, ...message),
    as(uid) {
      const client = uid === undefined ? clientWith(apiKey) : app.client.onBehalfOf(uid)
      const own: Record<string, string> = uid === undefined ? {} : { onbehalfof: uid }
      return Object.assign(client, {
        call: (method: string, path: string, { headers, ...options }: CallOptions = {}) =>
          app.call(method, path, { ...options, headers: { ...own, ...headers } }),
        sendText: (...message: Parameters<Caller['sendText']>) => sendText(client, ...message),
      })
    },
    async users(...uids) {
      for (const uid of uids) await app.client.users.create({ uid, name: uid })
      return uids.map(app.as) as { [N in keyof typeof uids]: UserClient }
    },
    fetchFile(url, init) {
      const { pathname, search } = new URL(url)
      return fetch(`http://127.0.0.1:${apiPort}${pathname}${search}`, init)
    },
    async events() {
      const statement = { name: 'test.events', text: EVENTS, values: [found.no] }
      return (await cell.db.query<TestEvent>(statement)).rows
    },
    eventTypes: async () => (await app.events()).map(({ type }) => type),
    waitFor: (type, matches = () => true) =>
      until(`an event ${type}`, async () =>
        (await app.events()).find((event) => event.type === type && matches(event)),
      ),
  }
  return app
}

async function sendText(
  { messages }: Loquat,
  receiver: string,
  text = 'Hello',
  more: More = {},
): Promise<Message> {
  const body = { receiver, receiverType: 'user', data: { text }, ...more }
  return messages.send(body as SendMessageBody)
}

const EVENTS = `
  select type, key, payload from (
    select 0 as stage, position as nth, type, key, payload from events where app_no = $1
    union all select 1, id, type, key, payload from outbox where app_no = $1
  ) both_tables order by stage, nth`

/** Sends one HTTP request. The answer must be one that openapi.json allows. */
export async function call(
  port: number,
  method: string,
  path: string,
  { headers, body }: { headers: Record<string, string>; body?: unknown },
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer = { status: response.status, body: JSON.parse(text), headers: response.headers }
  assertConforms(method, path, answer.status, answer.body)
  return answer
}

/** For the SDK: checks its answers in the same way. */
export const checkedFetch: NonNullable<LoquatOptions['fetch']> = async (url, init) => {
  const response = await fetch(url, init)
  const { pathname, search } = new URL(url)
  const body = await response.clone().json()
  assertConforms(init.method ?? 'GET', pathname + search, response.status, body)
  return response
}
