/**
 * npm test: every test, on private engines. `npm test -- FILE…` runs some of them;
 * `npm run test:long` the long forms.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { makeTemplates, withEngines } from '../packages/server/test/engines.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { long: { type: 'boolean', default: false }, only: { type: 'string' } },
})

const files = positionals.length > 0 ? positionals : ['packages/*/{src,test}/**/*.test.ts']

process.exitCode = await withEngines({ durable: false }, async (engines) => {
  await makeTemplates(engines)
  const env = { ...process.env, ...engines, ...(values.long && { LOQUAT_TEST_LONG: '1' }) }
  const filter = values.only ? [`--test-name-pattern=${values.only}`] : []
  const args = ['--test', '--test-concurrency=3', '--test-timeout=600000', ...filter, ...files]
  const child = spawn(process.execPath, args, { env, stdio: 'inherit' })
  return new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
})
