import { suite, test } from 'node:test'
import pg from 'pg'
import '../src/cli/program.ts' // reaches everything
import { statements } from '../src/platform/db/query.ts'
import { databaseUrl, TEMPLATES } from './engines.ts'

suite('every statement is valid against the migrated schema', () => {
  for (const [name, { text, schema }] of statements) {
    test(name, async (t) => {
      const client = new pg.Client({
        connectionString: databaseUrl(process.env, TEMPLATES[schema]),
      })
      await client.connect()
      t.after(() => client.end())
      await client.query(`prepare statement as ${text}`)
    })
  }
})
