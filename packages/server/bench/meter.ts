import type { QueryResultRow } from 'pg'
import type { Cell } from '../src/platform/cells/directory.ts'
import type { Db } from '../src/platform/db/db.ts'
import type { Executor, Statement } from '../src/platform/db/query.ts'

interface StatementCost {
  label: string
  buffers: number
  ms: number
}

export interface Cost {
  buffers: number
  /** Time in PostgreSQL. */
  ms: number
  statements: StatementCost[]
}

interface Explained {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }
  'Execution Time': number
}

/**
 * Runs each statement of the service in a cell again under `explain (analyze, buffers)`, on the same connection
 * and in the same transaction. There is no other way to count the buffers of single statements.
 */
export class Meter {
  #costs: StatementCost[] | undefined
  readonly #measured: RegExp

  /** Measures the statements with these labels. The other statements of a request cost the same in every app. */
  constructor({ db }: Cell, measured: RegExp) {
    this.#measured = measured
    const { reading } = db
    Object.assign(db, this.#tap(db))
    db.reading = () => {
      const own = reading()
      return { ...own, db: { ...own.db, ...this.#tap(own.db) } }
    }
  }

  #tap({ query, tx }: Db): Pick<Db, 'query' | 'tx'> {
    return {
      query: this.#tapped(query),
      tx: (work) => tx((inside) => work({ ...inside, query: this.#tapped(inside.query) })),
    }
  }

  async measure(work: () => Promise<unknown>): Promise<Cost> {
    const statements: StatementCost[] = []
    this.#costs = statements
    await work().finally(() => {
      this.#costs = undefined
    })
    const sum = (part: 'buffers' | 'ms') => statements.reduce((all, cost) => all + cost[part], 0)
    return { statements, buffers: sum('buffers'), ms: sum('ms') }
  }

  describe({ statements }: Cost): string {
    return statements
      .map(({ label, buffers, ms }) => `${label} ${buffers} buffers ${ms.toFixed(1)} ms`)
      .join(', ')
  }

  #tapped(query: Executor['query']): Executor['query'] {
    return async <R extends QueryResultRow>(statement: Statement) => {
      const label = statement.label ?? statement.name
      if (this.#costs && this.#measured.test(label))
        this.#costs.push(await explain(query, statement))
      return query<R>(statement)
    }
  }
}

async function explain(
  query: Executor['query'],
  { label, name, text, values }: Statement,
): Promise<StatementCost> {
  const { rows } = await query<{ 'QUERY PLAN': Explained[] }>({
    name: '',
    label: 'bench.explain',
    text: `explain (analyze, buffers, timing off, format json) ${text}`,
    values,
  })
  const explained = rows[0]?.['QUERY PLAN'][0]
  if (!explained) throw new Error(`no plan for ${label}`)
  const { Plan: plan } = explained
  return {
    label: label ?? name,
    buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    ms: explained['Execution Time'],
  }
}
