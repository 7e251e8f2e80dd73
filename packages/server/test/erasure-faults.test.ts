/** Kills processes between all steps of an erasure: the next worker completes it, and the receipt counts everything once. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { afterEach, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { resumeErasures } from '../src/areas/erasures/actions.ts'
import { readConfig } from '../src/config.ts'
import { serve } from '../src/serve.ts'
import { verify } from '../src/verify/verify.ts'
import { dumpOf } from './dump.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { killRunning, Running } from './loquat.ts'
import { until } from './until.ts'

const PROCESS = fileURLToPath(new URL('check-process.ts', import.meta.url))

const STEPS = [
  ...['erasures.insert', 'jobs.enqueue', 'erasures.eraseAddresses', 'erasures.eraseFromMessages'],
  ...['users.sweep', 'erasures.eraseRows', 'erasures.listAnswers', 'erasures.eraseEvents'],
  ...[
    'erasures.eraseDeliveries',
    'erasures.eraseAudit',
    'erasures.insertDone',
    'erasures.complete',
  ],
]
/** Each stage of the job ends with one. */
const CHECKPOINTS = 27
const POINTS = [
  ...STEPS.flatMap((name) => [`${name} before 1`, `${name} after 1`]),
  ...Array.from({ length: CHECKPOINTS }, (_, n) => `jobs.checkpoint after ${n + 1}`),
]
/** Between the ledger and the job, and in the middle of the work. */
const SOME = ['erasures.insert after 1', 'users.sweep after 1']

const MESSAGES = 5

suite('processes that are killed while they erase a user', () => {
  const server = useServer({ roles: ['api'], env: {} })
  afterEach(killRunning)

  async function appWithUser(word: string): Promise<TestApp> {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'amira', name: word })
    await app.users('ben')
    const group = { guid: 'team', name: 'Team', type: 'public' as const, owner: 'ben' }
    await app.client.groups.create({ ...group, members: { participants: ['amira'] } })
    for (let n = 0; n < MESSAGES; n++) {
      await app.as('amira').sendText('team', word, { receiverType: 'group' })
    }
    await app.as('ben').sendText('team', 'Hi <@uid:amira>', { receiverType: 'group' })
    return app
  }

  for (const point of LONG ? POINTS : SOME) {
    test(`${point}: the user is erased`, async () => {
      const word = `zq${randomBytes(8).toString('hex')}`
      const app = await appWithUser(word)
      const env = { ...server.env, LOQUAT_LOG_LEVEL: 'info', LOQUAT_TEST_KILL: point }
      const child = spawn(process.execPath, [PROCESS], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      const victim = new Running(child)
      const { apiPort } = await victim.logged('serving', ({ msg }) => msg === 'serving')
      // The process may die before it answers.
      const options = { body: {}, port: Number(apiPort) }
      await app.call('POST', '/v3/users/amira/erasure', options).catch(() => {})
      await victim.ended
      const heir = await serve(readConfig(server.env), ['worker'])
      try {
        if (point === 'erasures.insert before 1') await app.client.erasures.create('amira', {})
        await resumeErasures(heir.deps, app.cell)
        const { receipt = [] } = await until('the user is erased', async () => {
          const erasure = await app.client.erasures.get('amira')
          return erasure.state === 'done' && erasure
        })
        const counted = Object.fromEntries(receipt.map(({ table, deleted }) => [table, deleted]))
        assert.equal(counted.users, 1)
        assert.equal(counted.messages, MESSAGES)
        for (const url of [app.cell.url, server.env.LOQUAT_DIRECTORY_URL ?? '']) {
          assert.ok(!dumpOf(url).includes(word))
        }
        assert.deepEqual(await verify(app.cell, app.no), [])
      } finally {
        await heir.drain()
      }
    })
  }
})
