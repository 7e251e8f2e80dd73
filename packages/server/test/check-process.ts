/**
 * A process that serves the API and runs jobs until it kills itself: before or after a call of another service (`post`), an
 * email (`mail`), a statement or a commit, as LOQUAT_TEST_KILL says, such as `reviews.release after 1`.
 */
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { Mail } from '../src/platform/mail/mail.ts'
import { Outbound } from '../src/platform/net/outbound.ts'
import { serve } from '../src/serve.ts'

type Method = (...args: unknown[]) => unknown

const [name, when, nth] = (process.env.LOQUAT_TEST_KILL ?? '').split(' ')

const die = () => process.kill(process.pid, 'SIGKILL')
let calls = 0

/** Dies at the right call of a method, among those that `counts` picks. */
function patch(prototype: object, method: string, counts: (first: unknown) => boolean): void {
  const methods = prototype as Record<string, Method>
  const real = methods[method] as Method
  methods[method] = function (...args) {
    const last = counts(args[0]) && ++calls === Number(nth)
    if (last && when === 'before') die()
    const result = real.apply(this, args)
    return last ? Promise.resolve(result).finally(die) : result
  }
}

if (name === 'post') patch(Outbound.prototype, 'post', () => true)
else if (name === 'mail') patch(Mail.prototype, 'send', () => true)
else {
  patch(pg.Client.prototype, 'query', (query) => (query as { name?: string } | null)?.name === name)
}

const { deps, apiPort } = await serve(readConfig(process.env), ['api', 'worker'])
deps.log.info({ apiPort }, 'serving')
