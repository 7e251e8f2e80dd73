/** npm run bench -- NAME [--json]: one measured run on private, durable engines. */
import { parseArgs } from 'node:util'
import { auth } from '../packages/server/bench/auth.ts'
import { conversations } from '../packages/server/bench/conversations.ts'
import { events } from '../packages/server/bench/events.ts'
import type { Figure } from '../packages/server/bench/figure.ts'
import { gateway } from '../packages/server/bench/gateway.ts'
import { presence } from '../packages/server/bench/gateway-presence.ts'
import { lists } from '../packages/server/bench/lists.ts'
import { messages } from '../packages/server/bench/messages.ts'
import { paging } from '../packages/server/bench/paging.ts'
import { peer } from '../packages/server/bench/peer.ts'
import { search } from '../packages/server/bench/search.ts'
import { send } from '../packages/server/bench/send.ts'
import { sequencer } from '../packages/server/bench/sequencer.ts'
import type { EnginesEnv } from '../packages/server/src/engines/engines.ts'
import { withEngines } from '../packages/server/test/engines.ts'

type Bench = (env: EnginesEnv, report: (line: string) => void) => Promise<Figure[]>

const benches: Record<string, Bench> = {
  auth,
  conversations,
  events,
  gateway: async (env, report) => [
    ...(await gateway(env, report)),
    ...(await presence(env, report)),
  ],
  lists,
  messages,
  paging,
  peer,
  presence,
  search,
  send,
  sequencer,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
})
const [name = ''] = positionals
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
if (bench) {
  const figures = await withEngines({ durable: true }, (env) =>
    bench(env, (line) => console.error(line)),
  )
  if (values.json) console.log(JSON.stringify({ bench: name, figures }))
  else console.table(figures)
  if (figures.some(({ holds }) => holds === false)) process.exitCode = 1
} else {
  const known = Object.keys(benches).join(', ')
  console.error(
    `${name ? `No bench "${name}". ` : ''}Use: npm run bench -- NAME [--json]\nNAME: ${known}`,
  )
  process.exitCode = 2
}
