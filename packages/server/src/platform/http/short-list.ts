import { type Static, Type } from 'typebox'
import { Current } from './id-page.ts'

/** How many records to show of a list without pages. */
export const ShortListQuery = Type.Object({
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 10,
    description: 'Maximum number of records.',
  }),
})

/** A list of which one page shows all. */
export const ShortList = <T extends Parameters<typeof Type.Array>[0]>(record: T) =>
  Type.Object(
    {
      data: Type.Array(record),
      meta: Type.Object({ current: Current }, { additionalProperties: false }),
    },
    { additionalProperties: false },
  )

export function shortList<R>(all: R[], { limit }: Static<typeof ShortListQuery>) {
  const data = all.slice(0, limit)
  return { data, meta: { current: { limit, count: data.length } } }
}
