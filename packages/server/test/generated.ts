/** The files that are made from the code or the migrated databases, as they should be now. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errors, events, impossibleErrors, regions, triggers } from '@loquat/protocol'
import pg from 'pg'
import { compileSdk } from '../../sdk/build.ts'
import { operationsFile, readMethods } from '../../sdk/generator/operations.ts'
import { eventsFile, protocolFile } from '../../sdk/generator/protocol.ts'
import { referencePage } from '../../sdk/generator/reference.ts'
import { buildApi } from '../src/api.ts'
import { options, readConfig } from '../src/config.ts'
import { recordsSql } from '../src/core/records/sql.ts'
import { grantsSql } from '../src/core/tables/grants.ts'
import { closeDeps, openDeps } from '../src/deps.ts'
import { documented } from '../src/documents.ts'
import { findBinaries } from '../src/engines/binaries.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import type { Schema } from '../src/platform/db/query.ts'
import { Components } from '../src/platform/http/components.ts'
import { contractPage } from './contract-page.ts'
import { databaseUrl, TEMPLATES } from './engines.ts'
import { STORY_SERVER, tellStories } from './examples/tell.ts'
import { endServer, startServer } from './kit.ts'
import { readLedger } from './ledger.ts'
import { realtimePage } from './realtime-page.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const RECORDS = 'packages/server/db/cell/functions/records.gen.sql'

/** What the databases are made from: written before they are. */
export const generatedSources = (): GeneratedFile[] => [
  { path: join(ROOT, RECORDS), content: recordsSql() },
  ...(['cell', 'directory'] as const).map((schema) => ({
    path: join(ROOT, 'packages/server/db', schema, 'grants.gen.sql'),
    content: grantsSql(schema),
  })),
]

export interface GeneratedFile {
  path: string
  content: string
}

/** What the OpenAPI documents are made from, besides the routes: requests to a real server and its answers. */
export async function generatedExamples(): Promise<GeneratedFile> {
  const started = await startServer(STORY_SERVER)
  try {
    const examples = await tellStories(started.service)
    return {
      path: join(ROOT, 'packages/server/examples.gen.json'),
      content: `${JSON.stringify(examples, null, 2)}\n`,
    }
  } finally {
    await endServer(started)
  }
}

export async function generatedFiles(
  env: NodeJS.ProcessEnv | EnginesEnv,
): Promise<GeneratedFile[]> {
  const url = (schema: Schema) => databaseUrl(env, TEMPLATES[schema])
  const { document, management } = await openApi(env)
  const files = {
    'packages/server/db/directory.sql': dump(url('directory')),
    'packages/server/db/cell.sql': dump(url('cell')),
    'packages/server/db/rows.gen.ts': await rowTypes(url),
    'packages/server/openapi.json': document,
    'packages/server/management.openapi.json': management,
    'packages/sdk/src/operations.gen.ts': sdkOperations(document, 'Operations'),
    'packages/sdk/src/management.gen.ts': sdkOperations(ownOf(management), 'ManagementOperations'),
    'packages/sdk/src/protocol.gen.ts': formatted(protocolFile({ errors, regions })),
    'packages/sdk/src/events.gen.ts': sdkEvents(document),
    'docs/config.md': configPage(),
    'docs/contract.md': contractPage(NOTE, readLedger()),
    'docs/errors.md': errorsPage(),
    'docs/events.md': eventsPage(),
    'docs/realtime.md': realtimePage(NOTE),
    'docs/sdk.md': sdkPage(document, ownOf(management)),
  }
  const made = Object.entries(files).map(([path, content]) => ({ path: join(ROOT, path), content }))
  return [...generatedSources(), ...made]
}

/** The schema as pg_dump writes it, less what changes with its version or the day. */
function dump(url: string): string {
  const { postgres } = findBinaries(process.env.PATH ?? '')
  const logs = ['event_bodies', 'event_positions', 'webhook_deliveries', 'notification_logs']
  const partitions = logs.map((name) => `--exclude-table=${name}_20*`)
  const args = ['--schema-only', '--no-owner', '--no-privileges', ...partitions, url]
  return execFileSync(join(dirname(postgres), 'pg_dump'), args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => !/^(--|SET |SELECT pg_catalog\.set_config|\\(un)?restrict )/.test(line))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .concat('\n')
}

const TYPES: Record<string, string> = {
  int2: 'number',
  int4: 'number',
  int8: 'number',
  float8: 'number',
  int8multirange: 'string',
  text: 'string',
  uuid: 'string',
  date: 'string',
  time: 'string',
  bool: 'boolean',
  bytea: 'Buffer',
  tsvector: 'string',
  timestamptz: 'Date',
  json: 'unknown',
  jsonb: 'unknown',
  // As the driver reads them.
  _int2: 'number[]',
  _int8: 'string[]',
  _text: 'string[]',
  _uuid: 'string[]',
}

async function rowTypes(url: (schema: Schema) => string): Promise<string> {
  const parts = ['// Made by `npm run generate` from the migrated databases. Do not edit.\n']
  for (const schema of ['directory', 'cell'] as const) {
    parts.push(`/** Rows of the tables of ${schema === 'cell' ? 'a cell' : 'the directory'}. */`)
    parts.push(`export interface ${schema === 'cell' ? 'Cell' : 'Directory'}Rows {`)
    for (const [table, columns] of await tables(url(schema))) {
      parts.push(`  ${table}: {`)
      for (const { column, type, nullable } of columns) {
        const known = TYPES[type]
        if (!known) throw new Error(`${table}.${column}: no TypeScript type for ${type}`)
        parts.push(`    ${column}: ${known}${nullable ? ' | null' : ''}`)
      }
      parts.push('  }')
    }
    parts.push('}\n')
  }
  return parts.join('\n')
}

interface Column {
  table: string
  column: string
  type: string
  nullable: boolean
}

async function tables(url: string): Promise<[string, Column[]][]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Column>(`
      select c.relname as "table", a.attname as "column", t.typname as type,
        not a.attnotnull as nullable
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join pg_type t on t.oid = a.atttypid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and not c.relispartition and c.relname not in ('migrations', 'function_files')
      order by c.relname, a.attnum`)
    return Object.entries(Object.groupBy(rows, (row) => row.table)) as [string, Column[]][]
  } finally {
    await client.end()
  }
}

async function openApi(env: NodeJS.ProcessEnv | EnginesEnv) {
  const deps = await openDeps(readConfig({ ...env, LOQUAT_LOG_LEVEL: 'silent' }))
  const app = await buildApi(deps)
  await app.ready()
  const [document = '', management = ''] = [app.swagger(), app.managementDocument()].map(
    (value) => `${JSON.stringify(value, null, 2)}\n`,
  )
  await app.close()
  await closeDeps(deps)
  return { document, management }
}

/** Without webhooks: the SDK reaches an app's data by `management.app(appId)`. */
function ownOf(management: string): string {
  const { paths, ...document } = JSON.parse(management) as { paths: Record<string, object> }
  const own = Object.entries(paths).filter(([path]) => !path.startsWith('/apps/{appId}/webhooks'))
  return JSON.stringify({ ...document, paths: Object.fromEntries(own) })
}

/** The methods of the SDK. */
const sdkOperations = (document: string, name: string) =>
  formatted(operationsFile(JSON.parse(document), name))

/** The reference of the SDK. Files written by hand are read from disk. */
function sdkPage(document: string, management: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'loquat-sdk-'))
  try {
    // It may use operations that are only just being generated.
    compileSdk(folder, '--noCheck')
    return referencePage(NOTE, {
      folder,
      operations: readMethods(JSON.parse(document)).methods,
      management: readMethods(JSON.parse(management)).methods,
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Error codes and events for the SDK. */
function sdkEvents(document: string): string {
  const known = Object.keys(JSON.parse(document).components.schemas)
  const components = new Components(documented)
  const referring = components.refer(events) as typeof events
  return formatted(eventsFile({ events: referring, components: components.schemas, known }))
}

function formatted(input: string): string {
  const args = ['format', '--stdin-file-path=operations.ts']
  return execFileSync('biome', args, { cwd: ROOT, input, encoding: 'utf8' })
}

const NOTE = '<!-- Made by `npm run generate`. Do not edit. -->'

function configPage(): string {
  const intro =
    'The service reads its configuration from environment variables. It reports all invalid values together.'
  const groups = Object.entries(options).flatMap(([group, members]) => [
    `\n## ${group}\n`,
    '| variable | value | default | meaning |',
    '| --- | --- | --- | --- |',
    ...Object.values(members).map((option) => {
      const initial = 'default' in option ? `\`${option.default}\`` : 'required'
      return `| \`${option.env}\` | ${option.type} | ${initial} | ${option.description} |`
    }),
  ])
  const checkout =
    '\n## In a checkout\n\n`LOQUAT_ENGINES_DIR` moves the data of `npm run engines` and `loquat dev` from `.engines/`.'
  return `# Configuration\n\n${NOTE}\n\n${intro}\n${groups.join('\n')}\n${checkout}\n`
}

function errorsPage(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, retry, when }]) =>
      `| \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} | ${when} |`,
  )
  const never = Object.entries(impossibleErrors).map(([code, why]) => `| \`${code}\` | ${why} |`)
  return [
    '# Errors',
    NOTE,
    'A failed request returns `{"error": {"code", "message", "devMessage"?, "details"?}}`. Rely on the code; texts may change. `devMessage` adds a hint for developers, and `details` lists what is wrong with each field.',
    ['| code | status | retry | when |', '| --- | --- | --- | --- |', ...rows].join('\n'),
    '## Codes that are never returned',
    'Comparable services document these codes. Code that handles them can stay as it is.',
    ['| code | why not |', '| --- | --- |', ...never].join('\n'),
  ]
    .join('\n\n')
    .concat('\n')
}

function eventsPage(): string {
  const triggerOf = new Map([...triggers].map(([trigger, { type }]) => [type as string, trigger]))
  const rows = Object.entries(events).map(([type, { summary, payload }]) => {
    const fields = Object.keys(payload.properties).map((name) => `\`${name}\``)
    const trigger = triggerOf.get(type)
    return `| \`${type}\` | ${summary} | ${fields.join(', ')} | ${trigger ? `\`${trigger}\`` : ''} |`
  })
  return [
    '# Events',
    NOTE,
    'Every change is one event in the log of its app. Positions count up from 1 without gaps.',
    "User records in events have no `status` and no `lastActiveAt`, except in `user.connection.changed`: an event has one payload for everyone who receives it, and users across a block may not see each other's presence.",
    ['| type | when | payload | webhook trigger |', '| --- | --- | --- | --- |', ...rows].join(
      '\n',
    ),
  ]
    .join('\n\n')
    .concat('\n')
}
