/** A deleted user's messages are hidden at once, before they are swept. */
export const SENDER_IS_THERE = `m.sender <> all (array(
  select uid from users where app_no = :appNo and removed_at is not null))`

/** In 1:1 conversations of both users. A guid may equal a deleted user's uid. */
export const PARTIES_ARE_THERE = `not (
  case h.kind when 'user' then array[m.sender, h.one, h.other] else array[m.sender] end) && array(
  select uid from users where app_no = :appNo and removed_at is not null)`

/** Deleted groups are hidden too. */
export const GROUP_IS_THERE = `not (h.kind = 'group' and h.one = any (array(
  select guid from groups where app_no = :appNo and removed_at is not null)))`

/**
 * Who sees a held message \`m\`: its sender and moderators. Every statement that shows rows of \`held_messages\` has this
 * condition, which a test checks.
 */
export const HELD_IS_SHOWN = '(m.sender = :viewer::text or :moderates::boolean)'

/** Whether a row `b` of `bans` still counts: a ban can end before its row is removed. */
export const BAN_IS_IN_FORCE = '(b.until is null or b.until > now())'
