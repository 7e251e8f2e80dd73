/** A removed user's messages are gone at once, though not yet swept. */
export const SENDER_IS_THERE = `m.sender <> all (array(
  select uid from users where app_no = :appNo and removed_at is not null))`

/** Of two users both, too. A guid may be what a removed user was called. */
export const PARTIES_ARE_THERE = `not (
  case h.kind when 'user' then array[m.sender, h.one, h.other] else array[m.sender] end) && array(
  select uid from users where app_no = :appNo and removed_at is not null)`

/** So are removed groups. */
export const GROUP_IS_THERE = `not (h.kind = 'group' and h.one = any (array(
  select guid from groups where app_no = :appNo and removed_at is not null)))`
