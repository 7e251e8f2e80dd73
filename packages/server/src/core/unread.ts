/** What of a conversation h is after the mark of an inbox row, without what is its owner's own or deleted: where nothing is left, nothing was. */
export const unreadOf = (row: string) => `(
  case when h.counted - ${row}.read_counted - ${row}.own_since = 0 then 0
  else h.counted - ${row}.read_counted - ${row}.own_since - (
    select count(*) from uncounted u
    where u.app_no = :appNo and u.conversation = h.no and u.seq > ${row}.read_seq) end)`
