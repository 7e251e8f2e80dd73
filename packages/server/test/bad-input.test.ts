import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { buildApi } from '../src/api.ts'
import { badRequest, type Change, change, toWire, urlOf, type Wire } from './bad-requests.ts'
import { assertConforms, managementOperations, type Operation, operations } from './conformity.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { prepareManaged } from './management-resources.ts'
import { prepare, type ValidRequest } from './resources.ts'
import { seeded } from './seed.ts'

/** Shared by all operations, so that the time stays the same when operations are added. */
const REQUESTS = LONG ? 1_000_000 : 3_500
const all = [...operations, ...managementOperations]
const each = Math.max(20, Math.ceil(REQUESTS / all.length))

const server = useServer({
  env: { LOQUAT_SIGN_UP: 'open', LOQUAT_TRUSTED_PROXIES: '127.0.0.1' },
})
let api: FastifyInstance

interface Valid {
  wire: Wire
  ids: ValidRequest['ids']
}

interface Ground {
  wire(operation: Operation): Promise<Valid>
  wrote(method: string): void
}

/** Keeps a valid request ready, because a successful write may use up its resources. */
class AppGround implements Ground {
  #app: TestApp | undefined
  #request: ValidRequest | undefined
  #uses = 0
  #writes = 0

  async wire(operation: Operation): Promise<Valid> {
    // Fewer than the app's rate limit, which would hide faults.
    if (this.#uses++ % 1_000 === 0) this.#leave()
    this.#app ??= await server.newApp()
    this.#request ??= await prepare(this.#app, operation)
    const { id: appid, apiKey: apikey } = this.#app
    return { wire: toWire(this.#request, { appid, apikey }), ids: this.#request.ids }
  }

  /** Replaces resources that were used up, and the app before it reaches its limits. */
  wrote(method: string) {
    if (++this.#writes % 10 === 0) this.#leave()
    else if (method === 'POST' || method === 'DELETE') this.#request = undefined
  }

  #leave() {
    this.#app = undefined
    this.#request = undefined
  }
}

/** The same for the management API, from many addresses, whose limits would hide faults. */
class ManagementGround implements Ground {
  #valid: Valid | undefined

  async wire(operation: Operation): Promise<Valid> {
    this.#valid ??= await this.#make(operation)
    const address = `10.${Array.from({ length: 3 }, () => Math.floor(Math.random() * 256)).join('.')}`
    const { wire, ids } = this.#valid
    return { wire: { ...wire, headers: { ...wire.headers, 'x-forwarded-for': address } }, ids }
  }

  wrote() {
    this.#valid = undefined
  }

  async #make(operation: Operation): Promise<Valid> {
    const request = await prepareManaged(server, operation)
    return { wire: toWire(request, { cookie: request.caller.cookie }), ids: request.ids }
  }
}

async function inject({ method, headers, payload, ...where }: Wire) {
  const url = urlOf({ method, headers, payload, ...where })
  const options: InjectOptions = { method: method as 'GET', url, headers }
  const answer = await api.inject(payload === undefined ? options : { ...options, payload })
  return { ...answer, url: answer.raw.req.url ?? url }
}

/** Sends the request and fails unless the answer is a proper one for bad input. */
async function assertAnswers(wire: Wire): Promise<number> {
  const { statusCode: status, headers, body, url } = await inject(wire)
  const good =
    status < 500 &&
    String(headers['content-type']).startsWith('application/json') &&
    headers['x-request-id']
  if (!good) assert.fail(`${JSON.stringify({ wire, status, headers, body }).slice(0, 5_000)}`)
  const read = wire.method === 'HEAD' ? undefined : JSON.parse(body)
  assertConforms(wire.method, url, status, read)
  return status
}

const total = { requests: 0, single: 0, accepted: 0, refused: 0 }
const counts: Record<string, { accepted: number; refused: number }> = {}

/** MB of the heap after a garbage collection, each time a tenth of the requests is done. */
const heap: number[] = []
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function measureHeap() {
  collectGarbage()
  heap.push(Math.round(process.memoryUsage().heapUsed / 2 ** 20))
}

suite('bad input breaks no operation', { concurrency: 4 }, () => {
  before(async () => {
    // Without the console, whose pages would answer instead of operations.
    api = await buildApi(server.deps, { console: '' })
  })
  after(() => api.close())

  for (const operation of all) {
    test(`${operation.operationId}: ${each} bad requests`, async () => {
      const ground: Ground = operation.manage ? new ManagementGround() : new AppGround()
      const statuses = new Set<number>()
      const count = { accepted: 0, refused: 0 }
      counts[operation.operationId] = count
      const attempt = async (changes: Change[]) => {
        const { wire, ids } = await ground.wire(operation)
        const bad = changes.reduce((changed, made) => change(changed, made, ids), wire)
        const status = await assertAnswers(bad)
        statuses.add(status)
        if (status < 300 && !['GET', 'HEAD'].includes(bad.method)) ground.wrote(bad.method)
        if (changes.length === 1) total.single++
        const outcome = status < 300 ? 'accepted' : 'refused'
        count[outcome]++
        total[outcome]++
        if (++total.requests % (REQUESTS / 10) === 0) measureHeap()
      }
      await attempt([])
      assert.deepEqual([...statuses], [200], 'the request without a fault succeeds')
      // Names that every object inherits are ids like any other.
      const id = operation.path.match(/\{(\w+)\}(?!.*\{)/)?.[1]
      for (const value of id ? ['__proto__', 'constructor'] : []) {
        await attempt([{ at: 'param', name: id ?? '', value }])
      }
      await fc.assert(fc.asyncProperty(badRequest(operation), attempt), {
        numRuns: each,
        ...seeded,
      })
      assert.ok([...statuses].some((status) => status >= 400))
    })
  }
})

test('some of the bad requests succeeded and some reached the operation', (t) => {
  t.diagnostic(JSON.stringify(total))
  if (LONG) t.diagnostic(JSON.stringify(counts))
  assert.ok(total.single > total.requests / 3)
  assert.ok(total.accepted > total.requests / 20)
  assert.ok(total.refused > total.requests / 3)
})

test('bad requests leave nothing in memory', { skip: !LONG }, (t) => {
  t.diagnostic(`MB of the heap: ${heap.join(', ')}`)
  const [first = 0, last = 0] = [heap[0], heap.at(-1)]
  // 200 bytes kept of each request would exceed it.
  assert.ok(last < first + 150, `${first} MB became ${last} MB`)
})
