/**
 * A process that serves the API and runs jobs until it kills itself: before or after a call of the folder of files, as
 * LOQUAT_TEST_KILL says, such as `store after 1`.
 */
import { readConfig } from '../src/config.ts'
import { FolderDriver } from '../src/platform/files/folder.ts'
import { serve } from '../src/serve.ts'

type Method = 'list' | 'uploadUrl' | 'receive' | 'fetch' | 'store' | 'removeAll'

const [name, when, nth] = (process.env.LOQUAT_TEST_KILL ?? '').split(' ')
const prototype = FolderDriver.prototype as unknown as Record<
  string,
  (...args: unknown[]) => unknown
>
const real = prototype[name as Method]
if (!real) throw new Error(`the folder has no method ${name}`)

const die = () => process.kill(process.pid, 'SIGKILL')
let calls = 0
prototype[name as Method] = async function (...args) {
  const last = ++calls === Number(nth)
  if (last && when === 'before') die()
  const result = await real.apply(this, args)
  if (last) die()
  return result
}

const { deps, apiPort } = await serve(readConfig(process.env), ['api', 'worker'])
deps.log.info({ apiPort }, 'serving')
