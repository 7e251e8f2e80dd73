import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { regions } from '@loquat/protocol'
import type { Config } from '../config.ts'
import { closeDeps, openDeps } from '../deps.ts'
import { runningEngines, setPublicUrl, startEngines, stopEngines } from '../engines/engines.ts'
import { demoFile, enginesDir } from '../engines/folder.ts'
import { freePort } from '../engines/process.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { upsertCell } from '../platform/cells/queries.ts'
import { sqlState } from '../platform/db/db.ts'
import { ownerUrl } from '../platform/db/grants.ts'
import { ensureDatabase, migrate } from '../platform/db/migrate.ts'
import { UserError } from '../platform/errors.ts'
import { roles, serve } from '../serve.ts'
import { sameDatabase } from './cells-add.ts'
import type { Command, Context } from './command.ts'
import { buildConsole } from './console-build.ts'
import { type DemoApp, type DemoOperator, demoApp, demoOperator } from './demo.ts'
import { PATIENT_MS } from './deps.ts'
import { explained, UNDEFINED_TABLE } from './explain.ts'
import { migrateAll } from './migrate.ts'
import { ownerConfig } from './owner.ts'

export const dev: Command = {
  name: 'dev',
  summary: 'Start everything on this machine, with a demo app. Try this first.',
  flags: [{ flag: '--port <number>', description: 'the port of the REST API', default: '3000' }],
  details:
    'Starts its own PostgreSQL, NATS and Redis on the loopback interface, migrates the databases, and runs all roles in one process. The first start creates a demo app with people, groups and messages. Prints its URL and API key, a curl line that sends a message, and how to sign in to the console. The operator of the console owns the demo app and the apps that you create with loquat apps create. The data stays in .engines/ between starts. Ctrl-C stops everything that this command started. With LOQUAT_DIRECTORY_URL, the command uses engines that run elsewhere, unless another installation uses them.',
  examples: ['loquat dev', 'loquat dev --port 4000'],
  async run(context, flags) {
    const port = Number(flags.port)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new UserError('--port must be a number from 1 to 65535.')
    }
    if ((await freePort(port)) !== port) {
      throw new UserError(
        `Port ${port} is in use. Choose another one: loquat dev --port ${port + 1}`,
      )
    }
    if (context.env.LOQUAT_DIRECTORY_URL) await checkNotForeign(context)
    // Catch Ctrl-C from here on, so that an early one doesn't leave the engines running.
    const stopped = context.stopped()
    const built = buildConsole(context.note)
    const work = () => serveDemo(context, port, { built, stopped })
    await (context.env.LOQUAT_DIRECTORY_URL ? work() : withOwnEngines(context, port, work))
  },
}

async function withOwnEngines(context: Context, port: number, work: () => Promise<void>) {
  const dir = enginesDir(context.env)
  const running = runningEngines(dir)
  const ours = running === undefined
  if (ours) context.note('Starting PostgreSQL, NATS and Redis …')
  try {
    await startEngines({ dir, searchPath: context.env.PATH ?? '' })
    setPublicUrl(dir, `http://localhost:${port}`)
    await work()
  } finally {
    // If the engines were running, another `loquat dev` may serve them too.
    setPublicUrl(dir, running?.LOQUAT_PUBLIC_URL)
    if (ours) await stopEngines(dir)
  }
}

/** What runs at the same time as the service. */
interface Concurrent {
  /** Resolves once the console's files are built. */
  built: Promise<void>
  stopped: Promise<void>
}

async function serveDemo(context: Context, port: number, { built, stopped }: Concurrent) {
  const config = context.config({
    LOQUAT_REGIONS: regions.join(','),
    LOQUAT_PORT: String(port),
    LOQUAT_PUBLIC_URL: context.env.LOQUAT_PUBLIC_URL ?? `http://localhost:${port}`,
    LOQUAT_INTERNAL_PORT: context.env.LOQUAT_INTERNAL_PORT ?? '0',
    LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
    LOQUAT_MEDIA_SERVERS: context.env.LOQUAT_MEDIA_SERVERS ?? 'werift',
    ...(context.env.LOQUAT_FILES_BUCKET_URL === undefined && {
      LOQUAT_FILES_FOLDER:
        context.env.LOQUAT_FILES_FOLDER ?? join(enginesDir(context.env), 'files'),
    }),
    LOQUAT_DB_TIMEOUT_MS: context.env.LOQUAT_DB_TIMEOUT_MS ?? PATIENT_MS,
    LOQUAT_LOG_LEVEL: context.env.LOQUAT_LOG_LEVEL ?? 'warn',
  })
  context.note('Preparing the databases …')
  const service = await explained(config, async () => {
    await prepareDatabases(config)
    await built
    return serve(config, roles)
  })
  const operator = await demoOperator(service.deps)
  const app = await demoApp(service.deps, operator)
  storeDemo(context, app)
  const external = context.env.LOQUAT_DIRECTORY_URL !== undefined
  context.print(welcome(app, operator, { port, internal: service.internalPort, external }))
  await stopped
  context.note('Stopping …')
  await service.drain()
}

/** `npm run example` reads it. */
function storeDemo({ env }: Context, { appId, apiKey }: DemoApp) {
  const dir = enginesDir(env)
  mkdirSync(dir, { recursive: true })
  writeFileSync(demoFile(dir), JSON.stringify({ appId, apiKey }), { mode: 0o600 })
}

/**
 * Fails if the environment configures another installation: this command would point its processes to other
 * databases, and let its webhooks call private addresses.
 */
async function checkNotForeign(context: Context) {
  const config = context.config({ LOQUAT_REGIONS: regions.join(',') })
  const { directoryUrl, owner } = config.engines
  const cells = await explained(config, async () => {
    await ensureDatabase(ownerUrl(directoryUrl, owner))
    return knownCells(config)
  })
  const foreign = cells.find(({ id, url }) => !sameDatabase(url, cellUrl(directoryUrl, id)))
  if (!foreign) return
  const { host, pathname } = new URL(directoryUrl)
  throw new UserError(
    `The directory at ${host}${pathname} belongs to another installation: loquat dev didn't create its cell ${foreign.id}. Nothing was changed.\nTo serve that installation, run loquat serve. To try Loquat on this machine, unset LOQUAT_DIRECTORY_URL.`,
  )
}

/** The cells of the directory. None if it isn't migrated yet. */
async function knownCells(config: Config): Promise<Cell[]> {
  const deps = await openDeps(config)
  try {
    await deps.directory.start()
    return deps.directory.cells()
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return []
    throw error
  } finally {
    await closeDeps(deps)
  }
}

function cellUrl(directoryUrl: string, cellId: string): string {
  const url = new URL(directoryUrl)
  url.pathname = `/${cellId}`
  return url.href
}

/** Creates one cell per region, all on the same PostgreSQL server. */
async function prepareDatabases(config: Config) {
  const { directoryUrl, owner } = config.engines
  const ownDirectory = ownerUrl(directoryUrl, owner)
  await ensureDatabase(ownDirectory)
  await migrate(ownDirectory, 'directory')
  const { secrets, directory, ...rest } = await openDeps(ownerConfig(config))
  try {
    for (const region of regions) {
      const cellId = `${region}-1`
      const url = cellUrl(directoryUrl, cellId)
      await ensureDatabase(ownerUrl(url, owner))
      const urlSealed = secrets.seal(['cells.url', cellId], url)
      await upsertCell.run(directory.db, { cellId, region, urlSealed })
    }
  } finally {
    await closeDeps({ secrets, directory, ...rest })
  }
  await migrateAll(config, () => {})
}

interface Addresses {
  port: number
  internal: number
  /** Whether the engines are configured in the environment, so that other commands don't recognize them. */
  external: boolean
}

/** Calls `localhost` with the header `appId`, because `*.localhost` doesn't resolve on every machine. */
const welcome = (
  { appId, baseUrl: address, apiKey }: DemoApp,
  { email, password }: DemoOperator,
  { port, internal, external }: Addresses,
) => `
Loquat is ready.

  Console        http://localhost:${port}/manage/console/
                 sign in as ${email} with password ${password}
  Reference      http://localhost:${port}/v3/docs

  Demo app       ${appId}, region us
  Base URL       ${address}
  API key        ${apiKey}
  Devices        ${address.replace(/^http/, 'ws').replace('.api-', '.realtime-')}/realtime
  Metrics        http://127.0.0.1:${internal}/metrics

Send a message from Ben to Amira:

  curl http://localhost:${port}/v3/messages -H 'appId: ${appId}' -H 'apikey: ${apiKey}' -H 'onBehalfOf: ben' -H 'content-type: application/json' -d '{"receiver":"amira","receiverType":"user","data":{"text":"Hello from the terminal"}}'

For the examples in the README:

  URL=http://localhost:${port} APP=${appId} KEY=${apiKey}

See two people chat: npm run example
Create an app: npx loquat apps create --name "My app"${external ? ` --owner ${email}` : ''}

If *.localhost doesn't resolve on your machine, call http://localhost:${port}/v3 with the header "appId: ${appId}", and connect devices to ws://localhost:${port}/v3/realtime?appId=${appId}.
Press Ctrl-C to stop. The data stays for the next start.
`
