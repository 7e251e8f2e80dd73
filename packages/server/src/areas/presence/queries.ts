import { query } from '../../platform/db/query.ts'

export const insertGateway = query<{ gateway: string; seconds: number }>(
  'presence.insertGateway',
  `insert into gateways (gateway, expires_at)
   values (:gateway, clock_timestamp() + make_interval(secs => :seconds))`,
)

/**
 * No row if the gateway was declared dead and must continue under a new id. `seconds` is the time
 * until its next expiry.
 */
export const renewGateway = query<{ gateway: string; seconds: number }, { gateway: string }>(
  'presence.renewGateway',
  `update gateways
   set seen_at = clock_timestamp(), expires_at = clock_timestamp() + make_interval(secs => :seconds)
   where gateway = :gateway and not ended returning gateway`,
)

/** Users as JSON: `{"app_no", "uid", "connection"}` each. The functions announce the events. */
export const connectUsers = query<{ gateway: string; users: string }>(
  'presence.connect',
  'select connect_users(:gateway, :users::json)',
)

/** The same, with the seconds since the last device left. */
export const disconnectUsers = query<{ gateway: string; users: string }>(
  'presence.disconnect',
  'select disconnect_users(:gateway, :users::json)',
)

/**
 * Like all statements below, this one is for all apps, because workers serve a whole cell. Waits for users who are just
 * connecting through the gateway.
 */
export const endGateways = query<Record<string, never>, { gateway: string }>(
  'presence.endGateways',
  `update gateways set ended = true where ended or expires_at < clock_timestamp()
   returning gateway`,
)

/** How far the users of a gateway were disconnected. */
export interface ReleaseCursor {
  app_no: number
  uid: string
}

/** No row: no users are left, and the gateway's row was removed. */
export const releaseGateway = query<
  { gateway: string; appNo: number; uid: string; limit: number },
  ReleaseCursor
>(
  'presence.releaseGateway',
  `select app_no, uid from release_gateway(:gateway, :appNo, :uid, :limit)
   where uid is not null`,
)

/** Together with the user, who is locked. */
export const removePresence = query<{ appNo: number; uid: string }>(
  'presence.remove',
  'delete from presence where app_no = :appNo and uid = :uid',
)
