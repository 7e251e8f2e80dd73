/** Conversations that are not being swept away. */
export const HEADS = `heads as (
  select h.* from conversations h where h.app_no = $1
    and not (h.kind = 'group' and h.one = any (array(
      select guid from groups where app_no = $1 and removed_at is not null)))
    and not (h.kind = 'user' and array[h.one, h.other] && array(
      select uid from users where app_no = $1 and removed_at is not null))
)`

/**
 * What must hold in an app's data whatever happened: each check recounts something from its origin
 * and selects what differs. `$1` is the app.
 */
export interface Check {
  what: string
  /** Selects `id`, `stored` and `counted` of each difference. */
  sql: string
}
