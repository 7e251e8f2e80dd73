import { hash } from 'node:crypto'
import type { QueryResultRow } from 'pg'
import type { Executor } from './query.ts'

/** A fragment of a statement with its parameter values. */
export class Sql {
  readonly texts: readonly string[]
  readonly values: readonly unknown[]

  constructor(texts: readonly string[], values: readonly unknown[]) {
    this.texts = texts
    this.values = values
  }
}

/** Builds a statement with optional parts. Fragments are inserted; all other values become parameters. */
export function sql(texts: TemplateStringsArray, ...parts: unknown[]): Sql {
  const flatTexts = [texts[0] ?? '']
  const values: unknown[] = []
  parts.forEach((part, index) => {
    const rest = texts[index + 1] ?? ''
    if (part instanceof Sql) {
      const [first = '', ...others] = part.texts
      flatTexts[flatTexts.length - 1] += first
      flatTexts.push(...others)
      values.push(...part.values)
      flatTexts[flatTexts.length - 1] += rest
    } else {
      values.push(part)
      flatTexts.push(rest)
    }
  })
  return new Sql(flatTexts, values)
}

export function joinSql(
  parts: readonly Sql[],
  separator: ' and ' | ' or ' | ', ' | ' union all ',
): Sql {
  return parts.reduce(
    (joined, part) =>
      joined === NOTHING ? part : sql`${joined}${new Sql([separator], [])}${part}`,
    NOTHING,
  )
}

const NOTHING = new Sql([''], [])

const textOf = (texts: readonly string[]) =>
  texts.reduce((whole, next, index) => `${whole}$${index}${next}`)

/** Runs a statement without a name, so that it is planned for its values. Its name in metrics is `label`. */
export async function runSql<R extends QueryResultRow>(
  db: Executor,
  label: string,
  { texts, values }: Sql,
): Promise<R[]> {
  return (await db.query<R>({ name: '', label, text: textOf(texts), values: [...values] })).rows
}

const names = new Map<string, string>()

/**
 * Runs a statement that PostgreSQL prepares once per connection. For statements whose best plan doesn't depend on
 * their values, and that have few different texts: each of them stays in memory.
 */
export async function runPrepared<R extends QueryResultRow>(
  db: Executor,
  label: string,
  { texts, values }: Sql,
): Promise<R[]> {
  const text = textOf(texts)
  let name = names.get(text)
  if (name === undefined) {
    name = `${label} ${hash('sha256', text, 'hex').slice(0, 16)}`
    names.set(text, name)
  }
  return (await db.query<R>({ name, label, text, values: [...values] })).rows
}
