/** The contents of the files that the lines of an export refer to, copied into a folder. */
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { appendFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../../../config.ts'
import type { Executor } from '../../../platform/db/query.ts'
import type { FileDriver } from '../../../platform/files/driver.ts'
import { fileIdsIn } from '../../files/attach.actions.ts'
import { type FileRow, findFile } from '../../files/queries.ts'
import { idOfPicture, prefixOf, toFile } from '../../files/record.ts'
import type { Line } from './reader.ts'

interface Options {
  db: Executor
  driver: FileDriver
  config: Pick<Config, 'files' | 'service'>
  app: { no: number; id: string }
  folder: string
}

/** Names each file with its checksum, one JSON object per line. */
const LIST = 'files.ndjson'

export class FileCopies {
  readonly counts = { copied: 0, missing: 0 }
  readonly #options: Options
  readonly #seen = new Set<string>()

  private constructor(options: Options) {
    this.#options = options
  }

  static async open(options: Options): Promise<FileCopies> {
    await writeFile(join(options.folder, LIST), '')
    return new FileCopies(options)
  }

  /** Copies what a line refers to, each file once. */
  async add(line: Line): Promise<void> {
    for (const id of this.#idsIn(line)) {
      if (this.#seen.has(id)) continue
      this.#seen.add(id)
      this.counts[(await this.#copy(id)) ? 'copied' : 'missing']++
    }
  }

  #idsIn({ data, avatar, icon }: Line): string[] {
    const { config, app } = this.#options
    const picture = avatar ?? icon
    const id = typeof picture === 'string' && idOfPicture(config, app.id, picture)
    return [...(id ? [id] : []), ...fileIdsIn((data ?? {}) as { attachments?: unknown })]
  }

  /** Whether it is there, with the content that its record says. */
  async #copy(id: string): Promise<boolean> {
    const { db, app, folder } = this.#options
    const row = await findFile.maybeOne(db, { appNo: app.no, id })
    if (row?.state !== 'ready') return false
    if (!(await this.#hasContent(row)) && !(await this.#fetch(row))) return false
    await appendFile(join(folder, LIST), `${JSON.stringify(toFile(row))}\n`)
    return true
  }

  /** An earlier run may have copied it: files never change. */
  async #hasContent({ id, size }: FileRow): Promise<boolean> {
    const found = await stat(join(this.#options.folder, id)).catch(() => undefined)
    return found?.size === Number(size)
  }

  async #fetch({ id, sha256 }: FileRow): Promise<boolean> {
    const { driver, app, folder } = this.#options
    const object = await driver.open(`${prefixOf(app.id, id)}/body`)
    if (!object) return false
    const path = join(folder, id)
    const hash = createHash('sha256')
    object.body.on('data', (chunk) => hash.update(chunk))
    await pipeline(object.body, createWriteStream(`${path}.part`))
    if (!sha256?.equals(hash.digest())) return false
    await rename(`${path}.part`, path)
    return true
  }
}
