/** Pages of agents and their parts: newest first, continued after a time of creation. */
import { type Static, type TSchema, Type } from 'typebox'
import { Current } from '../../platform/http/id-page.ts'
import { Data, Milliseconds } from '../../platform/http/schemas.ts'

export const Limit = (usual: number) =>
  Type.Integer({
    minimum: 1,
    maximum: 100,
    default: usual,
    description: 'Maximum number of records per page.',
  })

export const CursorQuery = {
  limit: Limit(10),
  affix: Type.Enum(['append', 'prepend'], {
    default: 'append',
    description: 'With `createdAt`: older records (`append`) or newer ones (`prepend`).',
  }),
  createdAt: Type.Optional(
    Milliseconds('Cursor: `createdAt` of `meta.next` or `meta.previous`, in Unix milliseconds.'),
  ),
}
const Query = Type.Object(CursorQuery)

const Cursor = Type.Object(
  {
    affix: Type.Enum(['append', 'prepend']),
    createdAt: Milliseconds('Time of creation, in Unix milliseconds.'),
  },
  { additionalProperties: false, 'x-component': 'AgentCursor' },
)

export const CursorPage = <T extends TSchema>(record: T) =>
  Type.Object(
    {
      ...Data(Type.Array(record)).properties,
      meta: Type.Object(
        { previous: Type.Optional(Cursor), current: Current, next: Type.Optional(Cursor) },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  )

/** A page of a list that continues at a record: `place` is the type of its id or number. */
export const NextPage = <T extends TSchema, P extends TSchema>(
  record: T,
  place: (options: { description: string }) => P,
  parameter = 'before',
) =>
  Type.Object(
    {
      data: Type.Array(record),
      meta: Type.Object(
        {
          next: Type.Optional(
            place({
              description: `Pass this as \`${parameter}\` to get the next page. Missing on the last page.`,
            }),
          ),
        },
        { additionalProperties: false },
      ),
    },
    { additionalProperties: false },
  )

/** What to read for a page: between which times, in which order, and one row more than asked for. */
export const rangeOf = ({ limit, affix, createdAt }: Static<typeof Query>) => ({
  newer: affix === 'prepend',
  after: affix === 'prepend' ? new Date(createdAt ?? 0) : null,
  before: affix === 'append' && createdAt !== undefined ? new Date(createdAt) : null,
  limit: limit + 1,
})
export type Range = ReturnType<typeof rangeOf>

/** The conditions and the order of `rangeOf`. At most some hundred rows of an app are sorted. */
export const inRange = `(:after::timestamptz is null or created_at > :after)
     and (:before::timestamptz is null or created_at < :before)
   order by case when :newer::boolean then created_at end, created_at desc
   limit :limit`

/** Cuts a page out of the rows that were read. */
export function pageOf<R extends { created_at: Date }, T>(
  rows: R[],
  { limit, affix, createdAt }: Static<typeof Query>,
  show: (row: R) => T,
) {
  const isUp = affix === 'prepend'
  const shown = rows.slice(0, limit)
  const more = rows.length > limit
  if (isUp) shown.reverse()
  const [newest, oldest] = [shown[0], shown.at(-1)]
  const hasNewer = isUp ? more : createdAt !== undefined
  const hasOlder = isUp ? createdAt !== undefined : more
  const at = (row: R) => ({ createdAt: row.created_at.getTime() })
  return {
    data: shown.map(show),
    meta: {
      ...(newest && hasNewer && { previous: { affix: 'prepend' as const, ...at(newest) } }),
      current: { limit, count: shown.length },
      ...(oldest && hasOlder && { next: { affix: 'append' as const, ...at(oldest) } }),
    },
  }
}
