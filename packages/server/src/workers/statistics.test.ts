import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { addBulkUsers } from '../../test/bulk-users.ts'
import { useServer } from '../../test/kit.ts'
import { rows } from '../../test/log-writers.ts'
import { until } from '../../test/until.ts'
import { renewStatistics } from './statistics.ts'

const server = useServer({ roles: ['api'] })

suite('statistics', () => {
  test('of a growing table are renewed once it has doubled', async () => {
    const app = await server.newApp()
    const { db } = app.cell
    const known = async () =>
      (await rows(db, `select reltuples from pg_class where oid = 'users'::regclass`))[0]?.reltuples
    const renewed = async () => (await renewStatistics(db)).includes('users')

    await addBulkUsers(server.deps, app, 1_000)
    // A connection reports its changes a second later.
    await until('users were analyzed', renewed)
    assert.equal(await known(), 1_000)
    assert.equal(await renewed(), false)

    const more = `insert into users (app_no, uid, name, role)
      select $1, 'v' || n, '', 'default' from generate_series(1, $2::int) n`
    await rows(db, more, [app.no, 1_100])
    await until('users were analyzed again', renewed)
    assert.equal(await known(), 2_100)
  })
})
