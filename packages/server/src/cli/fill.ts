import type { Deps } from '../deps.ts'
import { fillApp, kinds } from '../fill/fill.ts'
import type { Kind } from '../fill/kind.ts'
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
    { flag: '--json', description: 'print one JSON object' },
  ],
  details:
    'Adds to what is there; each run makes new ids. The rows count in totals and lists like any others, but no event tells of them. Ctrl-C ends it after the chunk under way; what was added stays. A vacuum at the end lets measurements begin on settled tables.',
  examples: ['loquat fill --app 9f01c2aa77d41b30 --users 1000000'],
  async run(context, flags) {
    const wishes = kinds
      .filter(({ name }) => flags[name] !== undefined)
      .map((kind) => ({ kind, wanted: readNumber(kind.name, String(flags[kind.name])) }))
    if (wishes.length === 0) {
      throw new UserError(`Say what to add: ${kinds.map(({ name }) => `--${name} N`).join(', ')}.`)
    }
    await withDeps(context, async (deps) => {
      for (const { kind, wanted } of wishes) {
        const filled = await fillOne({ context, deps, appId: String(flags.app), kind, wanted })
        context.print(flags.json ? JSON.stringify(filled) : sentence(filled))
        if (filled.added < wanted) throw new UserError(stopped(kind, wanted))
      }
    })
  },
}

const stopped = ({ name }: Kind, wanted: number) =>
  `Stopped before all ${thousands(wanted)} ${name} were added.`

function readNumber(name: string, text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= 1 && number <= MOST) return number
  throw new UserError(`--${name} takes a number from 1 to ${MOST}.`)
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
  wanted: number
}

async function fillOne({ context, deps, appId, kind, wanted }: Order): Promise<Filled> {
  const app = await deps.directory.find(appId)
  if (!app?.cell) {
    throw new UserError(
      `There is no app "${appId}". Create one: loquat apps create --name "Filled"`,
    )
  }
  const stop = new AbortController()
  void context.stopped().then(() => stop.abort())
  const progress = startProgress(context.terminal, kind.name, wanted)
  const started = performance.now()
  const added = await fillApp(
    { ...app, cell: app.cell },
    { kind, wanted, onProgress: progress.show, signal: stop.signal },
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
