import pg from 'pg'
import type { Config } from '../config.ts'
import { openCellUrl } from '../platform/cells/directory.ts'
import { listCells } from '../platform/cells/queries.ts'
import { connectionConfig, sqlState } from '../platform/db/db.ts'
import { UserError } from '../platform/errors.ts'
import { openSecrets } from '../platform/secrets/secrets.ts'

export const UNDEFINED_TABLE = '42P01'

/** Runs `work`. If it fails because a database can't be reached, says which one and what to do. */
export async function explained<T>(config: Config, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UserError) throw error
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw portInUse(error)
    if (sqlState(error) === UNDEFINED_TABLE) {
      throw new UserError('The databases are older than this version. Run: loquat migrate')
    }
    await checkDatabases(config)
    throw error
  }
}

const portInUse = (error: unknown) =>
  new UserError(
    `Port ${(error as { port?: number }).port} is in use. Set LOQUAT_PORT or LOQUAT_INTERNAL_PORT to another port.`,
  )

async function checkDatabases({ engines, service }: Config): Promise<void> {
  await withConnection(
    engines.directoryUrl,
    'The directory',
    'Check that PostgreSQL is running there and that LOQUAT_DIRECTORY_URL is right. To start everything on this machine: loquat dev',
    async (client) => {
      const secrets = openSecrets(service.secret, { accepted: service.acceptedSecrets })
      for (const row of await listCells.many(client, {})) {
        const hint = `Check that PostgreSQL is running there. To change its URL: loquat cells add --id ${row.cell_id} …`
        const url = openCellUrl(row, { secrets, tlsRules: engines })
        await withConnection(url, `Cell ${row.cell_id}`, hint)
      }
    },
  )
}

/** Connects to a database. The error of a failed attempt doesn't contain the password. */
export async function withConnection(
  url: string,
  what: string,
  hint: string,
  work: (client: pg.Client) => Promise<void> = async () => {},
): Promise<void> {
  const client = new pg.Client(connectionConfig(url))
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    const { host, pathname } = new URL(url)
    const reason = (error as Error).message || (error as NodeJS.ErrnoException).code
    throw new UserError(`${what} can't be reached at ${host}${pathname}: ${reason}.\n${hint}`)
  }
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
