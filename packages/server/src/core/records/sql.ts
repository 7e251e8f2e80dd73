/** Prints db/cell/functions/records.gen.sql: the SQL that makes records as JSON text. */
import type { Field } from './fields.ts'
import { GROUP } from './group.ts'
import { MESSAGE, SENT_MESSAGE } from './message.ts'
import { PRESENCE, USER } from './user.ts'

type AnyFields = { [name: string]: Field<never> }

interface Builder {
  comment: string
  /** Name and parameters. */
  signature: string
  fields: AnyFields
  /** The text before the first field: the brace, or the comma after other fields. */
  open: '{' | ','
}

const pick = (fields: AnyFields, live: boolean): AnyFields =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => (field.live ?? false) === live))

/** The fields of a message that is being sent: from values, so that PostgreSQL inlines the function. */
const SENT: AnyFields = Object.fromEntries(
  Object.entries<string | null>(SENT_MESSAGE).flatMap(([name, sql]) =>
    sql === null ? [] : [[name, { ...(MESSAGE as AnyFields)[name], sql } as Field<never>]],
  ),
)

const BUILDERS: Builder[] = [
  {
    comment: `The card of a user: the record without role and presence, and without the closing brace. Everyone sees it.
 * concat skips null values.`,
    signature: 'user_card(u users)',
    fields: pick(USER, false),
    open: '{',
  },
  {
    comment: "What users across a block don't see, to append to user_text.",
    signature: 'user_presence(u users)',
    fields: PRESENCE,
    open: ',',
  },
  {
    comment: 'The card of a group: the record without the number of members and the closing brace.',
    signature: 'group_card(g groups)',
    fields: pick(GROUP, false),
    open: '{',
  },
  {
    comment: 'A message as everyone sees it, without its content and the closing brace.',
    signature: 'message_text(m messages, h conversations)',
    fields: MESSAGE,
    open: '{',
  },
  {
    comment: 'The same for a plain message that is being sent: not for replies and quotes.',
    signature: `sent_message_text(p_id bigint, p_kind text, p_one text, p_other text, p_sender text,
  p_receiver text, p_category text, p_type text, p_tags text[], p_muid text)`,
    fields: SENT,
    open: '{',
  },
]

/** A row's card, completed with the fields that it leaves out. */
interface Completion {
  comment: string
  signature: string
  /** What SQL calls the row. */
  alias: string
  fields: AnyFields
}

const COMPLETIONS: Completion[] = [
  {
    comment: `A user as everyone sees it, without the closing brace: fields that depend on the viewer are appended.
 * Null if there is no such user.`,
    signature: 'user_text(u users)',
    alias: 'u',
    fields: pick(USER, true),
  },
  {
    comment: `A group as everyone sees it, without the closing brace: the viewer's membership is appended.
 * Null if there is no such group.`,
    signature: 'group_text(g groups)',
    alias: 'g',
    fields: pick(GROUP, true),
  },
]

export const recordsSql = (): string =>
  [
    '-- Made by `npm run generate` from src/core/records. Do not edit. Locks: none.\n',
    ...BUILDERS.map(print),
    ...COMPLETIONS.map(printCompletion),
  ].join('\n')

const print = ({ comment, signature, fields, open }: Builder) => `/* ${comment} */
create or replace function ${signature} returns text
language sql stable
return concat(
  ${lines(joined(partsOf(fields, open)))});
`

const printCompletion = ({ comment, signature, alias, fields }: Completion) => `/* ${comment} */
create or replace function ${signature} returns text
language sql stable
return ${[`${alias}.card`, ...partsOf(fields, ',')].join(' || ')};
`

/** The arguments of concat for these fields: texts in quotes, and expressions. */
function partsOf(fields: AnyFields, open: string): string[] {
  return Object.entries(fields).flatMap(([name, { sql, bare, optional }], nth) => {
    const before = `'${nth === 0 ? open : ','}"${name}":${bare ? '"' : ''}'`
    const after = bare ? [`'"'`] : []
    return optional ? [[before, `${sql}::text`, ...after].join(' || ')] : [before, sql, ...after]
  })
}

const isText = (part: string) => /^'[^']*'$/.test(part)

/** Joins adjacent texts, because every argument of concat costs time. */
function joined(parts: string[]): string[] {
  const done: string[] = []
  for (const part of parts) {
    const last = done.at(-1) ?? ''
    const joins = isText(last) && isText(part)
    if (joins) done[done.length - 1] = `${last.slice(0, -1)}${part.slice(1)}`
    else done.push(part)
  }
  return done
}

/** One field per line. Each begins with a text and may end with a quote. */
const lines = (parts: string[]): string =>
  parts.reduce((text, part) => `${text},${/^'(?!"')/.test(part) ? '\n ' : ''} ${part}`)
