/**
 * The fields of a record, each defined once: how TypeScript reads it from a row, and how SQL prints it from the same
 * row. `npm run generate` makes the SQL builders (db/cell/functions/records.gen.sql) from these definitions.
 */
import { seconds } from '../time.ts'

export interface Field<Row, Value = unknown> {
  /** The value; undefined if the record has no such field. */
  read(row: Row): Value | undefined
  /** An SQL expression that prints the value as JSON; null if the record has no such field. */
  sql: string
  /** Whether `sql` prints a string without its quotes, because the text needs no escaping. */
  bare?: true
  /** Whether a record can lack this field. */
  optional?: true
  /** Whether it changes without an update of the row, or too often, to be stored in the row's card. Never optional. */
  live?: true
}

/** The fields of a record, in the order in which they are printed. */
export type Fields<Record, Row> = { [Name in keyof Record]: Field<Row, Record[Name]> }

/** A function that makes records from rows. */
export function builder<Record, Row>(fields: Fields<Record, Row>): (row: Row) => Record {
  const list = Object.entries<Field<Row>>(fields)
  return (row) => {
    const record: { [name: string]: unknown } = {}
    for (const [name, field] of list) {
      const value = field.read(row)
      if (value !== undefined) record[name] = value
    }
    return record as Record
  }
}

/** A function that prints records as JSON, without the closing brace. */
export function printer<Row>(fields: { [name: string]: Field<Row> }): (row: Row) => string {
  const list = Object.entries(fields).map(([name, { read }], nth) => ({
    before: `${nth === 0 ? '{' : ','}"${name}":`,
    read,
  }))
  return (row) => {
    let text = ''
    for (const { before, read } of list) {
      const value = read(row)
      if (value !== undefined) text += before + JSON.stringify(value)
    }
    return text
  }
}

type Keys<Row, Value> = { [K in keyof Row]: Row[K] extends Value ? K : never }[keyof Row] & string

const OPTIONAL = { optional: true } as const
type When = 'optional' | undefined

/** Fields that show a column of the table that SQL calls `alias`. An optional field is left out if the column is null. */
export const columnsOf = <Row>(alias: string) => {
  const shown = (when: When) => (when ? OPTIONAL : {})
  const valueIn = (row: Row, column: keyof Row): unknown => row[column] ?? undefined
  return {
    text: (column: Keys<Row, string | null>, when?: When): Field<Row, string> => ({
      read: (row) => valueIn(row, column) as string | undefined,
      sql: `to_json(${alias}.${column})`,
      ...shown(when),
    }),
    /** One of a few words, none of which needs escaping. */
    word: <K extends Keys<Row, string>>(column: K): Field<Row, Row[K]> => ({
      read: (row) => row[column],
      sql: `${alias}.${column}`,
      bare: true,
    }),
    number: (column: Keys<Row, number>): Field<Row, number> => ({
      read: (row) => row[column] as number,
      sql: `${alias}.${column}`,
    }),
    /** A number that records show as a string. */
    id: (column: Keys<Row, number | null>, when?: When): Field<Row, string> => ({
      read: (row) => valueIn(row, column)?.toString(),
      sql: `${alias}.${column}`,
      bare: true,
      ...shown(when),
    }),
    /** A time, in Unix seconds. */
    seconds: (column: Keys<Row, Date | null>, when?: When): Field<Row, number> => ({
      read: (row) => {
        const at = valueIn(row, column) as Date | undefined
        return at && seconds(at)
      },
      sql: `unix(${alias}.${column})`,
      ...shown(when),
    }),
    /** One of two words. */
    flag: <Yes extends string, No extends string>(
      column: Keys<Row, boolean>,
      yes: Yes,
      no: No,
    ): Field<Row, Yes | No> => ({
      read: (row) => (row[column] ? yes : no),
      sql: `case when ${alias}.${column} then '"${yes}"' else '"${no}"' end`,
    }),
    /** An object, left out if the column is null. */
    object: <K extends keyof Row & string>(column: K): Field<Row, NonNullable<Row[K]>> => ({
      read: (row) => row[column] ?? undefined,
      sql: `${alias}.${column}`,
      ...OPTIONAL,
    }),
  }
}
