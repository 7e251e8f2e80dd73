/**
 * npm run bench -- NAME [--json]: one measured run on private, durable engines.
 * With --against COMMIT [--rounds N]: runs that commit and this one in turns, and prints their ratios.
 * With --same-bench, that commit runs this bench instead of its own, to compare figures that its own didn't have.
 */
import { parseArgs } from 'node:util'
import { against } from '../packages/server/bench/against.ts'
import { expectEnd } from '../packages/server/bench/ending.ts'
import type { Figure } from '../packages/server/bench/figure.ts'
import type { Comparison } from '../packages/server/bench/ratios.ts'
import type { EnginesEnv } from '../packages/server/src/engines/engines.ts'
import { withEngines } from '../packages/server/test/engines.ts'

type Bench = (env: EnginesEnv, report: (line: string) => void) => Promise<Figure[]>

/** Imported only when it runs: with --same-bench, the other commit's code may not fit the other benches. */
const benches: Record<string, () => Promise<Bench[]>> = {
  agents: async () => [(await import('../packages/server/bench/agents.ts')).agents],
  'app-conversations': async () => [
    (await import('../packages/server/bench/app-conversations.ts')).appConversations,
  ],
  auth: async () => [
    (await import('../packages/server/bench/auth.ts')).auth,
    (await import('../packages/server/bench/reads.ts')).userReads,
  ],
  calls: async () => [(await import('../packages/server/bench/calls.ts')).calls],
  conversations: async () => [
    (await import('../packages/server/bench/conversations.ts')).conversations,
    (await import('../packages/server/bench/app-conversations.ts')).appConversations,
  ],
  events: async () => [(await import('../packages/server/bench/events.ts')).events],
  fairness: async () => [(await import('../packages/server/bench/fairness.ts')).fairness],
  files: async () => [(await import('../packages/server/bench/files.ts')).files],
  gateway: async () => [
    (await import('../packages/server/bench/gateway.ts')).gateway,
    (await import('../packages/server/bench/gateway-presence.ts')).presence,
  ],
  instructions: async () => [
    (await import('../packages/server/bench/instructions.ts')).instructions,
  ],
  notifications: async () => [
    (await import('../packages/server/bench/notifications.ts')).notifications,
  ],
  jobs: async () => [(await import('../packages/server/bench/jobs.ts')).jobs],
  import: async () => [(await import('../packages/server/bench/import.ts')).importBench],
  lists: async () => [(await import('../packages/server/bench/lists.ts')).lists],
  messages: async () => [
    (await import('../packages/server/bench/messages.ts')).messages,
    (await import('../packages/server/bench/reads.ts')).historyReads,
  ],
  knowledge: async () => [(await import('../packages/server/bench/knowledge.ts')).knowledge],
  moderation: async () => [(await import('../packages/server/bench/moderation.ts')).moderation],
  neighbours: async () => [(await import('../packages/server/bench/neighbours.ts')).neighbours],
  paging: async () => [(await import('../packages/server/bench/paging.ts')).paging],
  peer: async () => [(await import('../packages/server/bench/peer.ts')).peer],
  presence: async () => [(await import('../packages/server/bench/gateway-presence.ts')).presence],
  preview: async () => [(await import('../packages/server/bench/preview.ts')).preview],
  push: async () => [(await import('../packages/server/bench/push.ts')).push],
  reads: async () => {
    const { userReads, historyReads } = await import('../packages/server/bench/reads.ts')
    return [userReads, historyReads]
  },
  search: async () => [(await import('../packages/server/bench/search.ts')).search],
  send: async () => [(await import('../packages/server/bench/send.ts')).send],
  sequencer: async () => [(await import('../packages/server/bench/sequencer.ts')).sequencer],
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    'same-bench': { type: 'boolean', default: false },
  },
})
const [name = ''] = positionals
const rounds = Number(values.rounds)
const load = Object.hasOwn(benches, name) ? benches[name] : undefined
const report = (line: string) => console.error(line)
if (!load || !(rounds >= 1)) {
  const known = Object.keys(benches).join(', ')
  console.error(
    `${name && !load ? `No bench "${name}". ` : ''}Use: npm run bench -- NAME [--json] [--against COMMIT [--rounds N] [--same-bench]]\nNAME: ${known}`,
  )
  process.exitCode = 2
} else if (values.against === undefined) {
  const parts = await load()
  const figures = await withEngines({ durable: true }, async (env) => {
    const all: Figure[] = []
    for (const bench of parts) all.push(...(await bench(env, report)))
    return all
  })
  if (values.json) console.log(JSON.stringify({ bench: name, figures }))
  else console.table(figures)
  if (figures.some(({ holds }) => holds === false)) process.exitCode = 1
  expectEnd()
} else {
  const { against: commit, 'same-bench': sameBench } = values
  const comparison = await against({ bench: name, commit, rounds, sameBench }, report)
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
  console.log('CPU time, instructions, buffers and WAL (a ratio above 1 costs more here):')
  table(true)
  console.log('Wall time and memory, which depend on what else the machine does:')
  table(false)
  for (const what of unmatched.ours) console.log(`Only here: ${what}`)
  for (const what of unmatched.theirs) console.log(`Only in ${commit}: ${what}`)
}
