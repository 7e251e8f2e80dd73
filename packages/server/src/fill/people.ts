import type pg from 'pg'
import { UserError } from '../platform/errors.ts'

/** Kept in memory. If an app has more users, only the first ones are used. */
const MOST = 1_000_000

/** Users who can be members and send messages: neither deactivated nor deleted. */
export async function readUids(client: pg.Client, appNo: number): Promise<string[]> {
  const { rows } = await client.query<{ uids: string[] | null }>(
    `select json_agg(uid) as uids from (
       select uid from users
       where app_no = $1 and deactivated_at is null and removed_at is null
       order by uid limit ${MOST}
     ) u`,
    [appNo],
  )
  const uids = rows[0]?.uids ?? []
  if (uids.length < 2) throw new UserError('The app has too few users. Add some first: --users N.')
  return uids
}

/** Draws the numbers of conversations, ascending. Uses JSON because parsing a PostgreSQL array costs far more. */
export async function drawNos(client: pg.Client, count: number): Promise<number[]> {
  const { rows } = await client.query<{ drawn: number[] | null }>(
    `select json_agg(nextval('conversation_nos')) as drawn from generate_series(1, $1::int)`,
    [count],
  )
  return rows[0]?.drawn ?? []
}
