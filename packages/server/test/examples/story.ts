/**
 * The examples of the API reference. Stories send real requests to a real server; each request that they show becomes
 * an example with its answer. Values that differ from run to run are replaced by invented ones.
 */
import assert from 'node:assert/strict'
import type { Operation } from '../../src/reference/document.ts'
import type { Example, Examples } from '../../src/reference/examples.ts'
import { Masks } from './masks.ts'

interface Answer {
  status: number
  body: unknown
  headers: Headers
}

/** Not `call` of the kit, which knows the operations of the last `npm run generate` only. */
async function send(
  port: number,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json(), headers: response.headers }
}

type Value = string | number | boolean

export interface Request {
  /** What is special about this example. Default: the summary of the operation. */
  title?: string
  /** The user on whose behalf the app calls. */
  as?: string
  /** Path parameters. */
  ids?: Record<string, string>
  query?: Record<string, Value | Value[]>
  body?: unknown
  /** The status, if the request is refused. */
  status?: number
  /** Stand-ins for values of this request that differ from run to run. */
  masks?: Record<string, string>
}

interface Route {
  method: string
  path: string
  summary: string
  /** Whose credentials it needs. */
  caller: 'app' | 'operator' | 'nobody'
}

interface Document {
  paths: Record<string, Record<string, Pick<Operation, 'operationId' | 'summary' | 'security'>>>
}

export class Story {
  readonly examples: Examples = {}
  /** Credentials of the app and of the operator, once there are some. */
  readonly headers: { app: Record<string, string>; operator: Record<string, string> } = {
    app: {},
    operator: {},
  }
  readonly masks = new Masks()
  readonly #port: number
  readonly #routes: Map<string, Route>

  constructor(port: number, routes: Map<string, Route>) {
    this.#port = port
    this.#routes = routes
  }

  /** Sends a request, and keeps it and its answer as an example. Returns the answer's `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: stories read answers of many shapes
  async show(operationId: string, request: Request = {}): Promise<any> {
    const { summary } = this.#route(operationId)
    const { body: answer } = await this.send(operationId, request)
    const { title = summary, as, ids, query, body, status = 200, masks = {} } = request
    for (const [real, standIn] of Object.entries(masks)) this.masks.add(real, standIn)
    const example: Example = {
      title,
      ...(as !== undefined && { as }),
      ...(ids && { ids }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
      status,
      answer,
    }
    this.examples[operationId] ??= []
    this.examples[operationId].push(this.masks.mask(example))
    return (answer as { data: unknown }).data
  }

  /** Sends a request that is no example. Returns the answer's `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: stories read answers of many shapes
  async run(operationId: string, request: Request = {}): Promise<any> {
    return ((await this.send(operationId, request)).body as { data: unknown }).data
  }

  async send(operationId: string, { as, ids = {}, query, body, status = 200 }: Request) {
    const { method, path, caller } = this.#route(operationId)
    const headers = {
      ...(caller !== 'nobody' && this.headers[caller]),
      ...(as !== undefined && { onbehalfof: as }),
    }
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''))
    const search = new URLSearchParams(
      Object.entries(query ?? {}).map(([name, value]) => [name, String(value)]),
    )
    const answer = await send(this.#port, method, url + (query ? `?${search}` : ''), {
      headers,
      body,
    })
    const sent = `${operationId} ${JSON.stringify({ as, ids, query, body })}`
    assert.equal(answer.status, status, `${sent} gave ${JSON.stringify(answer.body)}`)
    return answer
  }

  #route(operationId: string): Route {
    const route = this.#routes.get(operationId)
    if (!route) throw new Error(`There is no operation ${operationId}. Change test/examples/.`)
    return route
  }
}

/** Reads the operations of a running server. */
export async function openStory(port: number): Promise<Story> {
  const routes = new Map<string, Route>()
  const read = async (document: string, prefix: string, caller: Route['caller']) => {
    const { paths } = (await send(port, 'GET', `${document}/openapi.json`)).body as Document
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, summary, security }] of Object.entries(methods)) {
        // Both documents describe webhooks; the example is the server's.
        if (routes.has(operationId)) continue
        routes.set(operationId, {
          method: method.toUpperCase(),
          path: prefix + path,
          summary,
          caller: security?.length ? caller : 'nobody',
        })
      }
    }
  }
  await read('/v3', '', 'app')
  await read('/manage', '/manage', 'operator')
  return new Story(port, routes)
}
