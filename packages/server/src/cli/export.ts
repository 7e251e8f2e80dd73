import { mkdir, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { conversationOf } from '../areas/imports/exports/actions.ts'
import { FileCopies } from '../areas/imports/exports/files.ts'
import { findConversationByNo } from '../areas/imports/exports/queries.ts'
import { idsOf, readAfter, type Scope, START } from '../areas/imports/exports/reader.ts'
import { Sums } from '../areas/imports/exports/sums.ts'
import { toText } from '../areas/imports/parity.ts'
import { UserError } from '../platform/errors.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { thousands } from './progress.ts'

export const exportCommand: Command = {
  name: 'export',
  summary: 'Export an app, a user or a conversation into a file that can be imported.',
  args: '<file>',
  flags: [
    { flag: '--app <app>', description: 'the id of the app', required: true },
    { flag: '--user <uid>', description: 'only what this user is and did' },
    { flag: '--conversation <id>', description: 'only this conversation' },
    { flag: '--from <second>', description: 'only messages since this Unix second' },
    { flag: '--to <second>', description: 'only messages until this Unix second' },
    { flag: '--files <folder>', description: 'also copy the files of messages, users and groups' },
  ],
  details:
    'Writes one JSON object per line, as `loquat import` reads it. A file whose name ends in .gz is compressed. Everything from before the start is exported; it prints counts and checksums, which an import of the file reports too. --files copies the contents of files by their ids into a folder, and lists them there with their checksums in files.ndjson.',
  examples: [
    'loquat export app.ndjson.gz --app 9f01c2aa77d41b30',
    'loquat export noor.ndjson --app 9f01c2aa77d41b30 --user noor',
    'loquat export app.ndjson.gz --app 9f01c2aa77d41b30 --files ./files',
  ],
  async run(context, flags, [path = '']) {
    const sums = new Sums()
    let copies: FileCopies | undefined
    await withDeps(context, async ({ directory, files: driver, config }) => {
      const app = await directory.find(String(flags.app))
      if (!app?.cell) throw new UserError(`There is no app "${flags.app}".`)
      const { db } = app.cell
      const no = flags.conversation
        ? await conversationOf(db, app.no, String(flags.conversation))
        : undefined
      const until = new Date()
      const scope: Scope = {
        ...{ appNo: app.no, until, uid: flags.user ? String(flags.user) : null },
        conversation:
          no === undefined ? null : await findConversationByNo.one(db, { appNo: app.no, no }),
        ...idsOf(
          secondOf(flags.from) ?? null,
          secondOf(flags.to) ?? Math.floor(Date.now() / 1000),
          until,
        ),
      }
      if (flags.files) {
        if (!driver) throw new UserError('This installation stores no files.')
        const folder = String(flags.files)
        await mkdir(folder, { recursive: true })
        copies = await FileCopies.open({ db, driver, config, app, folder })
      }
      async function* lines() {
        for (let place = START; ; ) {
          const { lines: read, ended } = await readAfter(db, scope, place)
          if (ended) return
          for (const next of read) {
            sums.add(next.line)
            await copies?.add(next.line)
            yield `${JSON.stringify(next.line)}\n`
            place = next.place
          }
        }
      }
      const out = (await openForWriting(path)).createWriteStream()
      const packed = path.endsWith('.gz') ? [createGzip()] : []
      await pipeline([Readable.from(lines()), ...packed, out])
    })
    for (const [kind, { count, checksum }] of Object.entries(sums.stored)) {
      context.print(`${kind}s: ${thousands(count)}, checksum ${toText(BigInt(checksum))}`)
    }
    if (!copies) return
    const { copied, missing } = copies.counts
    context.print(`files: ${thousands(copied)} copied, ${thousands(missing)} missing`)
  },
}

const openForWriting = (path: string) =>
  open(path, 'w').catch((error) => {
    throw new UserError(`The file "${path}" can't be written: ${error.message}.`)
  })

function secondOf(flag: string | boolean | undefined): number | undefined {
  if (flag === undefined) return undefined
  if (/^\d{10}$/.test(String(flag))) return Number(flag)
  throw new UserError(`"${flag}" is not a Unix second.`)
}
