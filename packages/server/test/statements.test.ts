import { after, before, suite, test } from 'node:test'
import pg from 'pg'
import '../src/cli/program.ts' // reaches everything
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
