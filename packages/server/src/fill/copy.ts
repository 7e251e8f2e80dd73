import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from } from 'pg-copy-streams'

/** A value in PostgreSQL's text format. Arrays are written as `{a,b}`. */
export type CopyRow = readonly (string | number | null)[]

/** Rows per chunk of the stream: enough to save calls, few enough not to block the event loop. */
const PIECE = 500

/** Copies rows into a table with COPY. */
export async function copyInto(
  client: pg.Client,
  table: string,
  columns: readonly string[],
  rows: Iterable<CopyRow>,
): Promise<void> {
  const text = `copy ${table} (${columns.join(', ')}) from stdin`
  await pipeline(Readable.from(chunks(rows)), client.query(from(text)))
}

function* chunks(rows: Iterable<CopyRow>): Generator<string> {
  let lines: string[] = []
  for (const row of rows) {
    lines.push(row.map(toField).join('\t'))
    if (lines.length < PIECE) continue
    yield `${lines.join('\n')}\n`
    lines = []
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

const toField = (value: string | number | null) =>
  value === null ? '\\N' : String(value).replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? '')
