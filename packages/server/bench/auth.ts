/**
 * What tenancy, auth, limits and validation cost: CPU of GET /v3/apikeys/{key} of a cached app,
 * against a bare Fastify route that runs the same statement, mapping and serializer.
 */
import { type ChildProcess, fork, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { makeTemplates } from '../test/engines.ts'
import { atMost, type Figure, median } from './figure.ts'

const BAR = 2.0
const ROUNDS = 20
const REQUESTS = 1_000
const WARM_UP = 3_000

type Side = 'service' | 'bare'

export async function auth(engines: EnginesEnv, report: (line: string) => void): Promise<Figure[]> {
  await makeTemplates(engines)
  const env = { ...process.env, ...engines }
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore', 'ipc']
  const server = fork(pathOf('auth-server.ts'), { env, stdio })
  const [target] = (await once(server, 'message')) as [object]
  const load = fork(pathOf('auth-load.ts'))
  try {
    await ask(load, target)
    return [await measure(server, load, report)]
  } finally {
    load.kill()
    server.send('stop')
    await once(server, 'exit')
  }
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

async function measure(server: ChildProcess, load: ChildProcess, report: (line: string) => void) {
  const costs: Record<Side, number[]> = { service: [], bare: [] }
  for (const side of ['service', 'bare'] as const) await ask(load, { side, requests: WARM_UP })
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of ['service', 'bare'] as const) {
      await ask(server, 'cpu')
      await ask(load, { side, requests: REQUESTS })
      costs[side].push((await ask<number>(server, 'cpu')) / REQUESTS)
    }
    const last = (side: Side) => costs[side].at(-1)?.toFixed(0)
    report(`round ${round + 1} of ${ROUNDS}: ${last('service')} µs, bare ${last('bare')} µs`)
  }
  const what = 'CPU of GET /v3/apikeys/{key}, µs a request'
  return atMost(what, median(costs.service), median(costs.bare), BAR)
}

async function ask<T>(child: ChildProcess, message: object | string): Promise<T> {
  const answered = once(child, 'message')
  child.send(message)
  return (await answered)[0] as T
}
