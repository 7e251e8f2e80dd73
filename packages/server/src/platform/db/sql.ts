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

/** Runs a statement without a name, so that it is planned for its values. Its name in metrics is `label`. */
export async function runSql<R extends QueryResultRow>(
  db: Executor,
  label: string,
  { texts, values }: Sql,
): Promise<R[]> {
  const text = texts.reduce((whole, next, index) => `${whole}$${index}${next}`)
  return (await db.query<R>({ name: '', label, text, values: [...values] })).rows
}
