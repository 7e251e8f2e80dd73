import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Adapter, type Item, Unmapped } from '../areas/imports/adapters/adapter.ts'
import { mattermost } from '../areas/imports/adapters/mattermost.ts'
import { slack } from '../areas/imports/adapters/slack.ts'
import { importFile, type Outcome, type Problem, sumsOf } from '../areas/imports/import-file.ts'
import { type Count, KINDS, type Kind } from '../areas/imports/kinds.ts'
import { type Line, readLines } from '../areas/imports/lines.ts'
import { Load } from '../areas/imports/load.ts'
import { sum, toText } from '../areas/imports/parity.ts'
import { getSettings } from '../areas/settings/queries.ts'
import { settingsInForce } from '../core/settings.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { startProgress, thousands } from './progress.ts'

/** The most problems that are printed. All are counted. */
const PRINTED = 1_000

export const importCommand: Command = {
  name: 'import',
  summary: 'Import users, groups, members and messages from files with one JSON object per line.',
  args: '<files...>',
  flags: [
    { flag: '--app <app>', description: 'the id of the app', required: true },
    {
      flag: '--from <service>',
      description: 'the service whose export the files are',
      choices: ['slack', 'mattermost'],
    },
    { flag: '--dry-run', description: 'only check the lines, and write nothing' },
    { flag: '--json', description: 'print one JSON object' },
  ],
  details:
    'Each line is an item of the data import with its kind: {"kind": "message", "muid": …}. Files may be compressed with gzip. Users come before groups, members and messages. You can run it again, with the same or later files, and after it was interrupted: what is there already is skipped. Lines that are refused are printed with their number and reason, and the exit code is 1. --from slack reads the folder of an export of Slack, --from mattermost the file of a bulk export of Mattermost; what can\'t be imported is listed.',
  examples: [
    'loquat import history.ndjson.gz --app 9f01c2aa77d41b30 --dry-run',
    'loquat import users.ndjson messages.ndjson --app 9f01c2aa77d41b30',
    'loquat import ./slack-export --from slack --app 9f01c2aa77d41b30',
  ],
  async run(context, { app: appId, json, dryRun, from }, files) {
    const adapter = ADAPTERS[String(from)]
    const unmapped = new Unmapped()
    const sizes = await Promise.all(files.map((file) => sizeOf(file, from === 'slack')))
    const total = sizes.reduce((sum, size) => sum + size, 0)
    const problems: (Problem & { file: string })[] = []
    let refused = 0
    const checksums: Partial<Record<string, bigint>> = {}
    const onOutcomes = (outcomes: Outcome[]) => {
      for (const { kind, checksum } of sumsOf(outcomes)) {
        checksums[kind] = sum(checksums[kind] ?? 0n, checksum)
      }
    }
    const counts = await withDeps(context, async ({ directory }) => {
      const app = await directory.find(String(appId))
      if (!app?.cell) throw new UserError(`There is no app "${appId}".`)
      const { db } = app.cell
      const settings = settingsInForce(await getSettings.one(db, { appNo: app.no }))
      const load = new Load(db)
      const progress = startProgress(context.terminal, 'bytes', total)
      let read = 0
      const all: Record<Kind, Count>[] = []
      try {
        for (const file of files) {
          const onProblem = (problem: Problem) => {
            refused++
            if (problems.length < PRINTED) problems.push({ file, ...problem })
          }
          const options = {
            ...{ db, appNo: app.no, settings, dryRun: Boolean(dryRun), parity: true },
            ...{ onProblem, onOutcomes, load },
          }
          if (adapter) {
            all.push(await importFile(options, asLines(adapter(file, unmapped))))
            continue
          }
          const stream = createReadStream(file)
          stream.on('data', (chunk) => {
            read += chunk.length
          })
          stream.pause()
          all.push(await importFile(options, readLines(stream), () => progress.show(read)))
        }
      } finally {
        progress.end()
      }
      return sumOf(all)
    })
    const left = Object.fromEntries(unmapped.counts)
    /** Of the lines that were imported. */
    const checksumOf = (kind: Kind): { checksum?: string } => {
      const found = checksums[kind]
      return found ? { checksum: toText(found) } : {}
    }
    if (json) {
      const kinds = KINDS.map((kind) => [kind, { ...counts[kind], ...checksumOf(kind) }])
      const report = { app: appId, ...Object.fromEntries(kinds), refused, problems }
      context.print(JSON.stringify({ ...report, unmapped: left }))
    } else {
      for (const { file, line, code, message } of problems) {
        context.print(`${file}:${line}: ${code}: ${message}`)
      }
      for (const kind of KINDS) {
        const { checksum } = checksumOf(kind)
        const of = checksum === undefined ? '' : `, checksum ${checksum}`
        context.print(`${sentence(kind, counts[kind])}${of}`)
      }
      for (const [what, count] of Object.entries(left)) {
        context.print(`not imported: ${thousands(count)} ${what}`)
      }
    }
    if (refused > 0) throw new UserError(`${thousands(refused)} lines were refused.`)
  },
}

const ADAPTERS: Record<string, Adapter> = { slack, mattermost }

/** Items of an adapter. Problems name them by their number. */
async function* asLines(items: AsyncIterable<Item>): AsyncGenerator<Line> {
  let line = 0
  for await (const item of items) yield { line: ++line, text: JSON.stringify(item) }
}

async function sizeOf(file: string, folder: boolean): Promise<number> {
  const found = await stat(file).catch(() => undefined)
  if (folder ? !found?.isDirectory() : !found?.isFile())
    throw new UserError(`There is no file "${file}".`)
  return found?.size ?? 0
}

const sumOf = (all: Record<Kind, Count>[]) =>
  Object.fromEntries(
    KINDS.map((kind) => {
      const sum = (name: keyof Count) => all.reduce((total, one) => total + one[kind][name], 0)
      return [
        kind,
        {
          ...{ read: sum('read'), imported: sum('imported') },
          ...{ there: sum('there'), refused: sum('refused') },
        },
      ]
    }),
  ) as Record<Kind, Count>

const sentence = (kind: Kind, { read, imported, there, refused }: Count) =>
  `${kind}s: ${thousands(read)} read, ${thousands(imported)} imported, ${thousands(there)} already there, ${thousands(refused)} refused`
