/** Everything that a database stores, as text. */
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { findBinaries } from '../src/engines/binaries.ts'
import { asOwner } from './databases.ts'

const { postgres } = findBinaries(process.env.PATH ?? '')

export const dumpOf = (url: string): string =>
  execFileSync(join(dirname(postgres), 'pg_dump'), [asOwner(url), '--data-only'], {
    ...{ encoding: 'utf8', maxBuffer: 2 ** 30 },
  })
