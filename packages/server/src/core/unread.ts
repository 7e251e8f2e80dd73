/**
 * The messages of a conversation h after an inbox row's mark, without the owner's own and deleted
 * ones. If nothing is left before subtracting deleted ones, there is nothing to subtract.
 */
export const unreadOf = (row: string) => `(
  case when h.counted - ${row}.read_counted - ${row}.own_since = 0 then 0
  else h.counted - ${row}.read_counted - ${row}.own_since - (
    select count(*) from uncounted u
    where u.app_no = h.app_no and u.conversation = h.no and u.id > ${row}.read_id) end)`
