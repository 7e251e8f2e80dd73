import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sweepFilesJob } from '../src/areas/files/sweep.job.ts'
import { readConfig } from '../src/config.ts'
import { enqueue } from '../src/platform/jobs/queue.ts'
import { type Service, serve } from '../src/serve.ts'
import { verify } from '../src/verify/verify.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { killRunning, Running } from './loquat.ts'
import { seeded } from './seed.ts'
import { until } from './until.ts'
import { checked, describe, withFiles } from './upload.ts'

const PROCESS = fileURLToPath(new URL('file-process.ts', import.meta.url))

/** The calls of the folder in the life of a file. Every write to the database is between two of them. */
const CALLS = [
  ...['list 1', 'uploadUrl 1', 'receive 1', 'receive 2', 'list 2', 'fetch 1', 'store 1'],
  // The parts after the check, then everything in the sweep.
  ...['removeAll 1', 'removeAll 2'],
]
/** The same for a file that comes with a message. */
const CALLS_OF_FORM = ['store 1', 'fetch 1', 'store 2', 'removeAll 1', 'removeAll 2']
const pointsOf = (calls: string[]) =>
  calls.flatMap((call) => {
    const [name, nth] = call.split(' ')
    return [`${name} before ${nth}`, `${name} after ${nth}`]
  })

const server = useServer()
const BYTES = Buffer.alloc(1024 * 1024 + 1, 'Hello ')

/** A process that will kill itself. From then on, another worker does its jobs. */
async function startVictim(point: string) {
  const env = { ...server.env, LOQUAT_LOG_LEVEL: 'info', LOQUAT_TEST_KILL: point }
  const child = spawn(process.execPath, [PROCESS], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const victim = new Running(child)
  const { apiPort } = await victim.logged('serving', ({ msg }) => msg === 'serving')
  const heir: Promise<Service> = victim.ended.then(() => serve(readConfig(server.env), ['worker']))
  return { victim, heir, port: Number(apiPort) }
}

/** The answer of the victim, or of another process if it dies. */
async function either<T>(ask: (port: number | undefined) => Promise<T>, port: number): Promise<T> {
  return ask(port).catch((error) => {
    if (!(error instanceof TypeError)) throw error
    return ask(undefined)
  })
}

/** Uploads, completes, sends and deletes a file. */
async function live(app: TestApp, port: number): Promise<void> {
  const [amira] = await app.users('amira')
  const call = (method: string, path: string, body?: unknown) =>
    either(
      (at) => amira.call(method, path, { ...(at && { port: at }), ...(body ? { body } : {}) }),
      port,
    )
  const file = (await call('POST', '/v3/files', describe(BYTES))).body.data
  for (const { url, offset, size } of file.upload.parts) {
    const body = new Uint8Array(BYTES.subarray(offset, offset + size))
    const put = { method: 'PUT', headers: file.upload.headers, body }
    const { pathname, search } = new URL(url)
    await either(
      (at) =>
        at ? fetch(`http://127.0.0.1:${at}${pathname}${search}`, put) : app.fetchFile(url, put),
      port,
    )
  }
  await call('POST', `/v3/files/${file.id}/complete`)
  assert.equal((await checked(amira, file.id)).status, 'ready')
  const message = await amira.messages.send(withFiles('amira', [file.id]))
  await clean(app)
  const { links } = await amira.files.get(file.id)
  const served = await app.fetchFile(links?.file ?? '')
  assert.ok(Buffer.from(await served.arrayBuffer()).equals(BYTES))
  await app.client.messages.delete(message.id, { permanent: true })
}

/** Sends a file with a message, again if the process died meanwhile, and deletes the message. */
async function liveInForm(app: TestApp, port: number): Promise<void> {
  const [amira] = await app.users('amira')
  const message = { receiverType: 'user', receiver: 'amira', type: 'file', category: 'message' }
  const send = async (at = server.service.apiPort) => {
    const body = new FormData()
    body.append('message', JSON.stringify(message))
    body.append('file', new Blob([BYTES]), 'hello.txt')
    const headers = {
      ...{ appid: app.id, apikey: app.apiKey, onbehalfof: 'amira' },
      'idempotency-key': 'once',
    }
    const url = `http://127.0.0.1:${at}/v3/messages`
    return (await fetch(url, { method: 'POST', headers, body })).json()
  }
  // The check of the file begins again when the dead worker's time is over.
  const { data } = await until('the message is sent', async () => {
    const answer = (await either(send, port)) as { data?: { id: string } }
    return answer.data ? { data: answer.data } : undefined
  })
  const found = await amira.messages.get(data.id)
  const { attachments = [] } = found.data as { attachments?: { url: string }[] }
  const [, id = ''] = /([^/]+)$/.exec(attachments[0]?.url ?? '') ?? []
  await clean(app)
  const { links } = await amira.files.get(id)
  const served = await app.fetchFile(links?.file ?? '')
  assert.ok(Buffer.from(await served.arrayBuffer()).equals(BYTES))
  await app.client.messages.delete(data.id, { permanent: true })
}

const clean = async ({ cell, no }: TestApp) => assert.deepEqual(await verify(cell, no), [])

/** Lets the time of all files pass, and waits until the sweep has deleted them. */
async function expire({ cell, no }: TestApp): Promise<void> {
  await rows(cell.db, 'update files set expires_at = now() where app_no = $1', [no])
  await cell.db.tx((tx) => enqueue(tx, 0, sweepFilesJob, {}, { dedupeKey: 'test' }))
  await until('the files are gone', async () => {
    return (await rows(cell.db, 'select from files where app_no = $1', [no])).length === 0
  })
}

suite('processes that are killed while they handle files', () => {
  const lives = { 'an upload': [live, CALLS], 'a form': [liveInForm, CALLS_OF_FORM] } as const
  const sample = Object.entries(lives).flatMap(([name, [run, calls]]) => {
    const points = pointsOf([...calls])
    const chosen = LONG ? points : [points[seeded.seed % points.length] ?? '']
    return chosen.map((point) => ({ name, run, point }))
  })
  for (const { name, run, point } of sample) {
    test(`leave nothing behind: ${name}, ${point}`, async () => {
      const { victim, heir, port } = await startVictim(point)
      try {
        const app = await server.newApp()
        await run(app, port)
        await expire(app)
        assert.equal(victim.running, false, 'it was not killed')
        const left =
          'select uid, files, bytes from file_usage where app_no = $1 and (files, bytes) <> (0, 0)'
        assert.deepEqual(await rows(app.cell.db, left, [app.no]), [])
        assert.deepEqual(await server.deps.files?.list(app.id), new Map())
        await clean(app)
        const jobs = 'select name from jobs where app_no = $1'
        await until(
          'no job is left',
          async () => (await rows(app.cell.db, jobs, [app.no])).length === 0,
        )
      } finally {
        await killRunning()
        await (await heir).drain()
      }
    })
  }
})
