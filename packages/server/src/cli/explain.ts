import pg from 'pg'
import type { Config } from '../config.ts'
import { listCells } from '../platform/cells/queries.ts'
import { connectionConfig, sqlState } from '../platform/db/db.ts'
import { UserError } from '../platform/errors.ts'
import { openSecrets } from '../platform/secrets/secrets.ts'

export const UNDEFINED_TABLE = '42P01'

/** Runs `work`; where it fails because a database is out of reach, says which and what to do. */
export async function explained<T>(config: Config, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UserError) throw error
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw portInUse(error)
    if (sqlState(error) === UNDEFINED_TABLE) {
      throw new UserError('The databases are not of this version yet. Run: loquat migrate')
    }
    await checkDatabases(config)
    throw error
  }
}

const portInUse = (error: unknown) =>
  new UserError(
    `Port ${(error as { port?: number }).port} is in use. Set LOQUAT_PORT or LOQUAT_INTERNAL_PORT to another.`,
  )

async function checkDatabases({ engines, service }: Config): Promise<void> {
  await withConnection(
    engines.directoryUrl,
    'The directory',
    'Is PostgreSQL running there, and is LOQUAT_DIRECTORY_URL right? To start everything on this machine: loquat dev',
    async (client) => {
      const secrets = openSecrets(service.secret)
      for (const { cell_id, url_sealed } of await listCells.many(client, {})) {
        const mend = `Is PostgreSQL running there? To change its address: loquat cells add --id ${cell_id} …`
        await withConnection(secrets.open(url_sealed), `Cell ${cell_id}`, mend)
      }
    },
  )
}

/** Connects once; a failure to do so becomes a sentence without the password. */
export async function withConnection(
  url: string,
  what: string,
  mend: string,
  work: (client: pg.Client) => Promise<void> = async () => {},
): Promise<void> {
  const client = new pg.Client(connectionConfig(url))
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    const { host, pathname } = new URL(url)
    const reason = (error as Error).message || (error as NodeJS.ErrnoException).code
    throw new UserError(`${what} cannot be used at ${host}${pathname}: ${reason}.\n${mend}`)
  }
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
