import type { Deps } from '../deps.ts'
import { fillApp, kinds } from '../fill/fill.ts'
import { MEMBERS } from '../fill/groups.ts'
import type { FillRequest, Kind } from '../fill/kind.ts'
import { ownerUrl } from '../platform/db/grants.ts'
import { UserError } from '../platform/errors.ts'
import type { Command, Context } from './command.ts'
import { withDeps } from './deps.ts'
import { startProgress, thousands } from './progress.ts'

const MAX = 100_000_000

export const fill: Command = {
  name: 'fill',
  summary: 'Fill an app with synthetic data for measurements.',
  flags: [
    { flag: '--app <app>', description: 'the id of the app', required: true },
    ...kinds.map(({ name }) => ({
      flag: `--${name} <number>`,
      description: `how many ${name} to add`,
    })),
    {
      flag: '--members <number>',
      description: `members of each new group (default: ${MEMBERS})`,
    },
    {
      flag: '--conversations <number>',
      description:
        'new 1:1 conversations for the messages (default: a tenth of the messages); 0 for none',
    },
    { flag: '--json', description: 'print one JSON object per kind of data' },
  ],
  details:
    'Adds to existing data; each run creates new ids. The rows appear in totals and lists like any others, but cause no events. Groups and messages belong to existing users. If the app has groups, they get a quarter of the messages, or all of them with --conversations 0. A few conversations are long, many are short, and some messages are read. Ctrl-C stops after the current batches and keeps what was added. A vacuum at the end settles the tables.',
  examples: [
    'loquat fill --app 9f01c2aa77d41b30 --users 1000000',
    'loquat fill --app 9f01c2aa77d41b30 --groups 1000 --members 50 --messages 1000000 --conversations 100000',
  ],
  async run(context, flags) {
    const read = (name: string, min: number) =>
      flags[name] === undefined ? undefined : readNumber(name, String(flags[name]), min)
    const [members, conversations] = [read('members', 1), read('conversations', 0)]
    const layout = {
      ...(members && { members }),
      ...(conversations !== undefined && { conversations }),
    }
    const requests = kinds
      .map((kind) => ({ kind, request: { wanted: read(kind.name, 1) ?? 0, ...layout } }))
      .filter(({ request }) => request.wanted > 0)
    if (requests.length === 0) {
      throw new UserError(`Say what to add: ${kinds.map(({ name }) => `--${name} N`).join(', ')}.`)
    }
    await withDeps(context, async (deps) => {
      for (const { kind, request } of requests) {
        const filled = await fillOne({ context, deps, appId: String(flags.app), kind, request })
        context.print(flags.json ? JSON.stringify(filled) : sentence(filled))
        if (filled.added < request.wanted) throw new UserError(stopped(kind, request.wanted))
      }
    })
  },
}

const stopped = ({ name }: Kind, wanted: number) =>
  `Stopped before all ${thousands(wanted)} ${name} were added.`

function readNumber(name: string, text: string, min: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= min && number <= MAX) return number
  throw new UserError(`--${name} must be a number from ${min} to ${MAX}.`)
}

interface Filled {
  what: string
  added: number
  seconds: number
  perSecond: number
}

interface FillJob {
  context: Context
  deps: Deps
  appId: string
  kind: Kind
  request: FillRequest
}

async function fillOne({ context, deps, appId, kind, request }: FillJob): Promise<Filled> {
  const app = await deps.directory.find(appId)
  if (!app?.cell) {
    throw new UserError(
      `There is no app "${appId}". Create one: loquat apps create --name "Filled"`,
    )
  }
  const stop = new AbortController()
  void context.stopped().then(() => stop.abort())
  const progress = startProgress(context.terminal, kind.name, request.wanted)
  const started = performance.now()
  const added = await fillApp(
    { ...app, cell: { ...app.cell, url: ownerUrl(app.cell.url, deps.config.engines.owner) } },
    { kind, ...request, onProgress: progress.show, signal: stop.signal },
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
