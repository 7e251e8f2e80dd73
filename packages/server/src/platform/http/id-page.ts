import { type TProperties, type TSchema, Type } from 'typebox'

/** Lists sorted by id: oldest first in both directions. `prepend` returns the block right before the cursor. */
export interface IdQuery {
  limit: number
  affix?: 'append' | 'prepend'
  id?: string
}

const isDown = ({ affix }: IdQuery) => affix === 'prepend'

/** What to read for a page: the ids between which it lies, and one row more than asked for. */
export function idRange(query: IdQuery) {
  const cursor = query.id === undefined ? undefined : Number(query.id)
  return {
    down: isDown(query),
    after: isDown(query) ? 0 : (cursor ?? 0),
    before: isDown(query) && cursor !== undefined ? cursor : Number.MAX_SAFE_INTEGER,
    limit: query.limit + 1,
  }
}

/** Cuts the page out of the rows that were read, and says where the next one begins. */
export function cutPage<R extends { id: number }>(rows: R[], query: IdQuery) {
  const { limit, affix = 'append' } = query
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  if (isDown(query)) shown.reverse()
  const current = { limit, count: shown.length }
  return { shown, meta: { current, ...(last && { next: { affix, id: String(last.id) } }) } }
}

/** Query parameters of lists that are sorted by id. */
export const IdCursor = (what: string, limit: number) => ({
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: limit,
    description: 'Maximum number of records per page.',
  }),
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description:
        'Whether to return records after the cursor (`append`) or before it (`prepend`). Without a cursor: the oldest or the newest records.',
    }),
  ),
  id: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,16}$', description: `Cursor: the id of ${what}.` }),
  ),
})

export const Next = <T extends TProperties>(cursor: T) =>
  Type.Object(
    { affix: Type.String(), ...cursor },
    {
      additionalProperties: false,
      description: 'Parameters of the next page in the same direction.',
    },
  )

export const Current = Type.Object(
  { limit: Type.Integer(), count: Type.Integer() },
  { additionalProperties: false },
)

/** A page of a list that is sorted by id. */
export const IdPage = <T extends TSchema>(record: T) =>
  Type.Object(
    {
      data: Type.Array(record),
      meta: Type.Object(
        { current: Current, next: Type.Optional(Next({ id: Type.String() })) },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  )
