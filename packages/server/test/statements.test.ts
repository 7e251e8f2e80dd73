import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import pg from 'pg'
import '../src/api.ts'
import '../src/cli/program.ts'
import '../src/gateway/gateway.ts'
import '../src/workers/jobs.ts'
import { HELD_IS_SHOWN } from '../src/core/visibility.ts'
import { statements } from '../src/platform/db/query.ts'
import { cloneDatabase, dropDatabase } from './databases.ts'

suite('every statement is valid against the migrated schema', () => {
  for (const schema of ['directory', 'cell'] as const) {
    suite(schema, () => {
      let url: string
      let client: pg.Client
      before(async () => {
        url = await cloneDatabase(schema)
        client = new pg.Client({ connectionString: url })
        await client.connect()
      })
      after(async () => {
        await client.end()
        await dropDatabase(url)
      })

      for (const [name, { text, schema: own }] of statements) {
        if (own !== schema) continue
        test(name, async () => {
          await client.query(`prepare "${name}" as ${text}`)
        })
      }
    })
  }
})

suite('a held message is shown to nobody but its sender and moderators', () => {
  /** Statements that show no message: they decide about one, or count. */
  const SHOWN_TO_NOBODY = [
    'reviews.lockHead',
    'reviews.lockMentioned',
    'reviews.findStatus',
    // In events for the sender and webhooks alone.
    'reviews.describeHeld',
    // For the services that the app itself chose to decide about it.
    'checks.findPending',
    'checks.listOverdue',
    // It expires like other messages.
    'conversations.listOld',
    // They decide who is notified of it: nobody.
    ...['notifications.listFacts', 'notifications.findExplained'],
  ]
  const condition = HELD_IS_SHOWN.replaceAll(/:(viewer|moderates)/g, '\\$\\d+').replaceAll(
    /[()]/g,
    '\\$&',
  )
  const held = [...statements].filter(([, { text }]) => text.includes('held_messages'))

  for (const [name, { text }] of held) {
    test(name, () => {
      const reads = text.split('held_messages').length - 1
      const limited = [...text.matchAll(new RegExp(condition, 'g'))].length
      assert.ok(SHOWN_TO_NOBODY.includes(name) ? limited === 0 : limited >= reads, text)
    })
  }

  test('by statements that exist', () => {
    const names = held.map(([name]) => name)
    assert.deepEqual(
      SHOWN_TO_NOBODY.filter((name) => !names.includes(name)),
      [],
    )
    assert.ok(names.includes('messages.findHeld') && names.includes('history.directUp'))
  })

  test('nor by functions other than those of moderation', () => {
    const folder = join(import.meta.dirname, '..', 'db', 'cell', 'functions')
    const others = readdirSync(folder).filter(
      (file) =>
        file !== 'moderation.sql' &&
        readFileSync(join(folder, file), 'utf8').includes('held_messages'),
    )
    // A mark stops before a held message, deletions and erasures delete it, imports keep its id free and its count
    // right, and send.sql gives the order of locks.
    assert.deepEqual(others, [
      ...['erasure.sql', 'imports.sql', 'marks.sql', 'messages.sql', 'send.sql', 'sweeps.sql'],
    ])
  })
})
