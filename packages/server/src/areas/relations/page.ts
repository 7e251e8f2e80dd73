import type { UserRecord } from '@loquat/protocol'
import { type PageRequest, pageOf, pagination } from '../../platform/http/schemas.ts'
import { asSeenBy, seconds } from '../users/record.ts'
import type { SeenUserRow } from './queries.ts'

interface RelatedRequest extends PageRequest {
  affix?: 'append' | 'prepend'
  updatedAt?: number
  id?: string
}

/**
 * A page of a user's friends or blocks, which are few enough to be read whole: by name, or with
 * `affix` by the time of their last change, from a user of a second on.
 */
export function pageOfRelated(query: RelatedRequest, rows: SeenUserRow[], viewer: string) {
  const show = (row: SeenUserRow): UserRecord => asSeenBy(viewer, row, row)
  const { affix, updatedAt, id, perPage } = query
  if (affix === undefined) return pageOf(query, rows, show)
  const backwards = affix === 'prepend'
  const isBeyond = (row: SeenUserRow) => {
    if (updatedAt === undefined) return true
    const after = changedAt(row) - updatedAt || (id === undefined ? 0 : compare(row.uid, id))
    return backwards ? after < 0 : after > 0
  }
  const beyond = rows
    .toSorted((one, two) => changedAt(one) - changedAt(two) || compare(one.uid, two.uid))
    .filter(isBeyond)
  const shown = backwards ? beyond.slice(-perPage) : beyond.slice(0, perPage)
  const edge = backwards ? shown[0] : shown.at(-1)
  return {
    data: shown.map(show),
    meta: {
      ...pagination(query, rows.length, shown.length),
      ...(edge && { cursor: { updatedAt: changedAt(edge), id: edge.uid, affix } }),
    },
  }
}

const changedAt = ({ updated_at, created_at }: SeenUserRow) => seconds(updated_at ?? created_at)

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
