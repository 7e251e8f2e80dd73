/**
 * npm run bench -- NAME [--json]: one measured run on private, durable engines.
 * With --against COMMIT [--rounds N]: runs that commit and this one in turns, and prints their ratios.
 */
import { parseArgs } from 'node:util'
import { against } from '../packages/server/bench/against.ts'
import { appConversations } from '../packages/server/bench/app-conversations.ts'
import { auth } from '../packages/server/bench/auth.ts'
import { conversations } from '../packages/server/bench/conversations.ts'
import { expectEnd } from '../packages/server/bench/ending.ts'
import { events } from '../packages/server/bench/events.ts'
import type { Figure } from '../packages/server/bench/figure.ts'
import { gateway } from '../packages/server/bench/gateway.ts'
import { presence } from '../packages/server/bench/gateway-presence.ts'
import { lists } from '../packages/server/bench/lists.ts'
import { messages } from '../packages/server/bench/messages.ts'
import { paging } from '../packages/server/bench/paging.ts'
import { peer } from '../packages/server/bench/peer.ts'
import type { Comparison } from '../packages/server/bench/ratios.ts'
import { search } from '../packages/server/bench/search.ts'
import { send } from '../packages/server/bench/send.ts'
import { sequencer } from '../packages/server/bench/sequencer.ts'
import type { EnginesEnv } from '../packages/server/src/engines/engines.ts'
import { withEngines } from '../packages/server/test/engines.ts'

type Bench = (env: EnginesEnv, report: (line: string) => void) => Promise<Figure[]>

const benches: Record<string, Bench> = {
  'app-conversations': appConversations,
  auth,
  conversations: async (env, report) => [
    ...(await conversations(env, report)),
    ...(await appConversations(env, report)),
  ],
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
  options: {
    json: { type: 'boolean', default: false },
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
  },
})
const [name = ''] = positionals
const rounds = Number(values.rounds)
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
const report = (line: string) => console.error(line)
if (!bench || !(rounds >= 1)) {
  const known = Object.keys(benches).join(', ')
  console.error(
    `${name && !bench ? `No bench "${name}". ` : ''}Use: npm run bench -- NAME [--json] [--against COMMIT [--rounds N]]\nNAME: ${known}`,
  )
  process.exitCode = 2
} else if (values.against === undefined) {
  const figures = await withEngines({ durable: true }, (env) => bench(env, report))
  if (values.json) console.log(JSON.stringify({ bench: name, figures }))
  else console.table(figures)
  if (figures.some(({ holds }) => holds === false)) process.exitCode = 1
  expectEnd()
} else {
  const commit = values.against
  const comparison = await against({ bench: name, commit, rounds }, report)
  if (values.json) console.log(JSON.stringify({ bench: name, against: commit, ...comparison }))
  else print(comparison, commit)
}

function print({ figures, unmatched }: Comparison, commit: string): void {
  const table = (steady: boolean) =>
    console.table(
      figures
        .filter((figure) => figure.steady === steady)
        .map(({ what, ours, theirs, ratio, spread }) => ({
          what,
          here: ours,
          [commit]: theirs,
          ratio,
          spread: `${spread[0]} – ${spread[1]}`,
        })),
    )
  console.log('CPU time, buffers and WAL (a ratio above 1 costs more here):')
  table(true)
  console.log('Wall time and memory, which depend on what else the machine does:')
  table(false)
  for (const what of unmatched.ours) console.log(`Only here: ${what}`)
  for (const what of unmatched.theirs) console.log(`Only in ${commit}: ${what}`)
}
