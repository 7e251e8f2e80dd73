/** The same with deleted ones. Messages that were purged count as read. */
export const sinceMark = (row: string) =>
  `(h.counted - greatest(${row}.read_counted, h.purged_counted) - ${row}.own_since)`

/**
 * The messages of a conversation h after an inbox row's mark, without the owner's own and deleted
 * ones. If nothing is left before subtracting deleted ones, there is nothing to subtract.
 */
export const unreadOf = (row: string) => `(
  case when ${sinceMark(row)} = 0 then 0
  else ${sinceMark(row)} - (
    select count(*) from uncounted u
    where u.app_no = h.app_no and u.conversation = h.no and u.id > greatest(${row}.read_id, h.purged_id)) end)`
