import type { Deps } from '../deps.ts'
import { fillApp, kinds } from '../fill/fill.ts'
import { MEMBERS } from '../fill/groups.ts'
import type { Kind, Wish } from '../fill/kind.ts'
import { UserError } from '../platform/errors.ts'
import type { Command, Context } from './command.ts'
import { withDeps } from './deps.ts'
import { startProgress, thousands } from './progress.ts'

const MOST = 100_000_000

export const fill: Command = {
  name: 'fill',
  summary: 'Fill an app with synthetic data, for measurements.',
  flags: [
    { flag: '--app <app>', description: 'id of the app', required: true },
    ...kinds.map(({ name }) => ({
      flag: `--${name} <number>`,
      description: `how many ${name} to add`,
    })),
    {
      flag: '--members <number>',
      description: `members of each group that is added (${MEMBERS})`,
    },
    {
      flag: '--conversations <number>',
      description: 'new 1:1 conversations for the messages (a tenth of the messages); 0: none',
    },
    { flag: '--json', description: 'print one JSON object for each kind' },
  ],
  details:
    'Adds to what is there; each run makes new ids. The rows count in totals and lists like any others, but no event tells of them. Groups and messages are those of users that are there. Where the app has groups, they get a quarter of the messages, and all of them with --conversations 0; a few conversations are long, many short, and parts are read. Ctrl-C ends it after the batches under way; what was added stays. A vacuum at the end lets measurements begin on settled tables.',
  examples: [
    'loquat fill --app 9f01c2aa77d41b30 --users 1000000',
    'loquat fill --app 9f01c2aa77d41b30 --groups 1000 --members 50 --messages 1000000 --conversations 100000',
  ],
  async run(context, flags) {
    const read = (name: string, least: number) =>
      flags[name] === undefined ? undefined : readNumber(name, String(flags[name]), least)
    const [members, conversations] = [read('members', 1), read('conversations', 0)]
    const layout = {
      ...(members && { members }),
      ...(conversations !== undefined && { conversations }),
    }
    const wishes = kinds
      .map((kind) => ({ kind, wish: { wanted: read(kind.name, 1) ?? 0, ...layout } }))
      .filter(({ wish }) => wish.wanted > 0)
    if (wishes.length === 0) {
      throw new UserError(`Say what to add: ${kinds.map(({ name }) => `--${name} N`).join(', ')}.`)
    }
    await withDeps(context, async (deps) => {
      for (const { kind, wish } of wishes) {
        const filled = await fillOne({ context, deps, appId: String(flags.app), kind, wish })
        context.print(flags.json ? JSON.stringify(filled) : sentence(filled))
        if (filled.added < wish.wanted) throw new UserError(stopped(kind, wish.wanted))
      }
    })
  },
}

const stopped = ({ name }: Kind, wanted: number) =>
  `Stopped before all ${thousands(wanted)} ${name} were added.`

function readNumber(name: string, text: string, least: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= MOST) return number
  throw new UserError(`--${name} takes a number from ${least} to ${MOST}.`)
}

interface Filled {
  what: string
  added: number
  seconds: number
  perSecond: number
}

interface Order {
  context: Context
  deps: Deps
  appId: string
  kind: Kind
  wish: Wish
}

async function fillOne({ context, deps, appId, kind, wish }: Order): Promise<Filled> {
  const app = await deps.directory.find(appId)
  if (!app?.cell) {
    throw new UserError(
      `There is no app "${appId}". Create one: loquat apps create --name "Filled"`,
    )
  }
  const stop = new AbortController()
  void context.stopped().then(() => stop.abort())
  const progress = startProgress(context.terminal, kind.name, wish.wanted)
  const started = performance.now()
  const added = await fillApp(
    { ...app, cell: app.cell },
    { kind, ...wish, onProgress: progress.show, signal: stop.signal },
  ).finally(progress.end)
  const seconds = (performance.now() - started) / 1000
  return {
    what: kind.name,
    added,
    seconds: Number(seconds.toFixed(1)),
    perSecond: Math.round(added / seconds),
  }
}

const sentence = ({ what, added, seconds, perSecond }: Filled) =>
  `Added ${thousands(added)} ${what} in ${seconds} s: ${thousands(perSecond)}/s.`
