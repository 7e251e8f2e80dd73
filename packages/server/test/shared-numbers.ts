/** Numbers from sequences that apps share: they would tell one tenant how busy the others are. */
import type { Db } from '../src/platform/db/db.ts'

/** Where all sequences start: few other numbers begin like this. */
const START = '13579'

/** Lets every sequence of a database continue at a number that is easy to recognize. Returns their names. */
export async function markSequences(db: Db): Promise<string[]> {
  const text = `select sequencename as name, data_type as type from pg_sequences where schemaname = 'public'`
  const { rows } = await db.query<{ name: string; type: string }>({ name: '', text, values: [] })
  for (const { name, type } of rows) {
    const start = START.padEnd(type === 'integer' ? 10 : 15, '0')
    await db.query({ name: '', text: 'select setval($1, $2, false)', values: [name, start] })
  }
  return rows.map(({ name }) => name)
}

/** Where a value contains such a number. */
export function findMarked(value: unknown, path = ''): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => findMarked(inner, `${path}.${key}`))
  }
  const shows = new RegExp(`(?<!\\d)${START}\\d{5,10}(?!\\d)`).test(String(value))
  return shows ? [`${path}: ${value}`] : []
}
