import type { UserRecord } from '@loquat/protocol'
import { type PageRequest, pageOf, pagination } from '../../platform/http/schemas.ts'
import { asSeenBy, seconds } from '../users/record.ts'
import type { SeenUserRow } from './queries.ts'

interface RelatedRequest extends PageRequest {
  affix?: 'append' | 'prepend'
  updatedAt?: number
}

/**
 * A page of a user's friends or blocks, which are few enough to be read whole: by name, or with
 * `affix` by the time of their last change, from a second on.
 */
export function pageOfRelated(query: RelatedRequest, rows: SeenUserRow[], viewer: string) {
  const show = (row: SeenUserRow): UserRecord => asSeenBy(viewer, row, row)
  const { affix, updatedAt, perPage } = query
  if (affix === undefined) return pageOf(query, rows, show)
  const backwards = affix === 'prepend'
  const beyond = rows
    .toSorted((one, two) => changedAt(one) - changedAt(two) || (one.uid < two.uid ? -1 : 1))
    .filter((row) => updatedAt === undefined || isBeyond(changedAt(row), updatedAt, backwards))
  const shown = backwards ? beyond.slice(-perPage) : beyond.slice(0, perPage)
  const edge = backwards ? shown[0] : shown.at(-1)
  return {
    data: shown.map(show),
    meta: {
      ...pagination(query, rows.length, shown.length),
      ...(edge && { cursor: { updatedAt: changedAt(edge), affix } }),
    },
  }
}

const changedAt = ({ updated_at, created_at }: SeenUserRow) => seconds(updated_at ?? created_at)

const isBeyond = (second: number, cursor: number, backwards: boolean) =>
  backwards ? second < cursor : second > cursor
