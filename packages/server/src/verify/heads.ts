/** Conversations that aren't being swept. */
export const HEADS = `heads as (
  select h.* from conversations h where h.app_no = $1
    and not (h.kind = 'group' and h.one = any (array(
      select guid from groups where app_no = $1 and removed_at is not null)))
    and not (h.kind = 'user' and array[h.one, h.other] && array(
      select uid from users where app_no = $1 and removed_at is not null))
)`

/**
 * An invariant of an app's data. Each check recounts a value from its source and selects the differences. `$1` is
 * the app's number.
 */
export interface Check {
  what: string
  /** Selects `id`, `stored` and `counted` of each difference. */
  sql: string
}
