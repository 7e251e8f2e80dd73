/** Lists that go by an id: oldest first in both directions, `prepend` gives the block nearest before the cursor. */
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

/** Cuts the page out of what was read, and tells where the next one begins. */
export function cutPage<R extends { id: number }>(rows: R[], query: IdQuery) {
  const { limit, affix = 'append' } = query
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  if (isDown(query)) shown.reverse()
  const current = { limit, count: shown.length }
  return { shown, meta: { current, ...(last && { next: { affix, id: String(last.id) } }) } }
}
