/** PostgreSQL servers of a test's own, to be stopped while others go on. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findBinaries } from '../src/engines/binaries.ts'
import { type PostgresServer, startPostgres } from '../src/engines/postgres.ts'
import { freePort, stopProcess } from '../src/engines/process.ts'
import { ensureDatabase, migrate } from '../src/platform/db/migrate.ts'
import type { Schema } from '../src/platform/db/query.ts'
import { keepPartitions } from '../src/platform/events/partitions.ts'

export interface Cluster {
  /** A migrated database on it. */
  newDatabase(schema: Schema): Promise<string>
  stop(): Promise<void>
  /** Again on the same port, with the same data. */
  start(): Promise<void>
  remove(): Promise<void>
}

export async function startCluster(): Promise<Cluster> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'loquat-cluster-')))
  const options = {
    dir,
    binaries: findBinaries(process.env.PATH ?? ''),
    port: await freePort(),
    password: 'test',
    durable: false,
  }
  let server: PostgresServer = await startPostgres(options)
  const stop = () => stopProcess(server.pid, server.mark, 'SIGINT')
  return {
    stop,
    async newDatabase(schema) {
      const url = `${server.url}/${schema}`
      await ensureDatabase(url)
      await migrate(url, schema)
      if (schema === 'cell') await keepPartitions(url, 14)
      return url
    },
    async start() {
      server = await startPostgres(options)
    },
    async remove() {
      await stop()
      // Elsewhere than in `dir` when the server's user could not enter that.
      rmSync(dirname(server.mark), { recursive: true, force: true })
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
