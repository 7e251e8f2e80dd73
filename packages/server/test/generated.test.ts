import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { suite, test } from 'node:test'
import { generatedFiles } from './generated.ts'

suite('generated files are up to date (npm run generate)', async () => {
  for (const { path, content } of await generatedFiles(process.env)) {
    test(basename(path), () => {
      assert.equal(existsSync(path) ? readFileSync(path, 'utf8') : '', content)
    })
  }
})
