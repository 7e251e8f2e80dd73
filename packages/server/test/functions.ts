/** Compares the functions and triggers of a database with their files. */
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { functionFiles, functionList } from '../src/platform/db/functions.ts'
import { ensureDatabase, migrate, SERVER } from '../src/platform/db/migrate.ts'
import type { Schema } from '../src/platform/db/query.ts'
import { dropDatabase, queryAt } from './databases.ts'
import { databaseUrl } from './engines.ts'

/**
 * Returns a sentence for each function or trigger that differs. It applies the files to a new database:
 * in this one they would lock tables.
 */
export async function functionFaults(
  url: string,
  schema: Schema,
  root = SERVER,
): Promise<string[]> {
  const fresh = databaseUrl(process.env, `test_functions_${randomBytes(5).toString('hex')}`)
  await ensureDatabase(fresh)
  try {
    await migrate(fresh, schema, root)
    const [stored, wanted] = [await definitions(url), await definitions(fresh)]
    const names = functionFiles(root, schema).flatMap(({ sql }) => namesIn(sql))
    const retired = functionList(root, schema).retired.map(({ name }) => name)
    return [
      ...[...stored.keys()]
        .filter((name) => !wanted.has(name) && !retired.includes(name))
        .map((name) => `${name} is in the database and in no file`),
      ...[...wanted]
        .filter(([name, definition]) => stored.get(name) !== definition)
        .map(([name]) => `${name} differs from its file`),
      ...[...wanted.keys()]
        .filter((name) => ![...names, ...fixedFunctions(root, schema)].includes(name))
        .map((name) => `${name} comes from a migration`),
      ...retired
        .filter((name) => wanted.has(name))
        .map((name) => `${name} is retired and in a file`),
      ...names
        .filter((name, nth) => names.indexOf(name) !== nth)
        .map((name) => `${name} is in two places`),
    ]
  } finally {
    await dropDatabase(fresh)
  }
}

/** Functions that columns and indexes use: a migration creates them, and they never change. */
export function fixedFunctions(root: string, schema: Schema): string[] {
  return globSync(join(root, 'migrations', schema, '*.sql')).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^create function (\w+)/gm)].map(
      ([, name = '']) => name,
    ),
  )
}

function namesIn(sql: string): string[] {
  const pattern = /^create or replace (?:function )?((?:trigger )?\w+)/gm
  return [...sql.matchAll(pattern)].map(([, name = '']) => name)
}

async function definitions(url: string): Promise<Map<string, string>> {
  const { rows } = await queryAt(
    url,
    `select p.proname as name, string_agg(pg_get_functiondef(p.oid), '' order by p.oid) as definition
    from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and not exists (
      select from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    group by 1
    union all
    select 'trigger ' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    order by 1`,
  )
  return new Map(rows.map(({ name, definition }) => [name, definition]))
}
