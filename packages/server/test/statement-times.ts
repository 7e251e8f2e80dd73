/** Which statements of a test run PostgreSQL spends its time on (`npm test -- --statements`). */
import { type EnginesEnv, startEngines, stopEngines } from '../src/engines/engines.ts'
import { statements } from '../src/platform/db/query.ts'
import { queryAt } from './databases.ts'
import { databaseUrl } from './engines.ts'

/** How many statements are printed. */
const SHOWN = 40

/** Every test file has databases of its own, and each of them has its own statements. */
const SETTINGS = { max: '100000', track: 'all', track_planning: 'on' }

/** Restarts PostgreSQL with pg_stat_statements, one of its standard extensions. */
export async function trackStatements(env: EnginesEnv, dir: string): Promise<void> {
  const run = (sql: string) => queryAt(databaseUrl(env, 'postgres'), sql)
  const restart = async () => {
    await stopEngines(dir)
    await startEngines({ dir, searchPath: process.env.PATH ?? '', durable: false })
  }
  await run(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
  await restart()
  // The settings are unknown until the library is loaded.
  for (const [name, value] of Object.entries(SETTINGS))
    await run(`alter system set pg_stat_statements.${name} = '${value}'`)
  await restart()
  await run('create extension pg_stat_statements')
}

interface Row {
  query: string
  toplevel: boolean
  calls: number
  plans: number
  ms: number
  planning: number
}

/** Prints the statements that took most time, with the share that was spent planning. */
export async function printStatements(env: EnginesEnv): Promise<void> {
  const { rows } = await queryAt(
    databaseUrl(env, 'postgres'),
    `select query, toplevel, sum(calls)::int as calls, sum(plans)::int as plans,
       sum(total_exec_time + total_plan_time) as ms, sum(total_plan_time) as planning
     from pg_stat_statements where calls > 0 and query not ilike all ('{create %,drop %,alter %,copy %,--%}')
     group by query, toplevel`,
  )
  const names = await namesByText()
  const total = rows.reduce((sum: number, { ms }: Row) => sum + ms, 0)
  const costliest = (rows as Row[]).toSorted((one, other) => other.ms - one.ms).slice(0, SHOWN)
  console.table(
    costliest.map(({ query, toplevel, calls, plans, ms, planning }) => ({
      statement: names.get(shapeOf(query)) ?? query.replaceAll(/\s+/g, ' ').slice(0, 70),
      'in a function': toplevel ? '' : 'yes',
      calls,
      plans,
      '% of all': Number(((100 * ms) / total).toFixed(1)),
      'µs a call': Math.round((1000 * ms) / calls),
      '% planning': Math.round((100 * planning) / ms),
    })),
  )
}

/** The names of declared statements. PostgreSQL replaces constants in the texts that it keeps. */
async function namesByText(): Promise<Map<string, string>> {
  await Promise.all([import('../src/api.ts'), import('../src/workers/jobs.ts')])
  return new Map([...statements].map(([name, { text }]) => [shapeOf(text), name]))
}

const shapeOf = (text: string) =>
  text
    .replaceAll(/'[^']*'|\$\d+|\b(\d+|true|false|null)\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .trim()
