import type { Settings } from '../../core/settings.ts'
import { query } from '../../platform/db/query.ts'

export const listAppsWithRetention = query<Record<string, never>, { app_no: number }>(
  'conversations.listAppsWithRetention',
  `select a.app_no from working_apps() w join apps a on a.app_no = w.app_no
   where a.settings ? 'retention.messageDays'`,
)

/** With the database's time, from which the ids of messages come, too. */
export const findRetention = query<{ appNo: number }, { settings: Settings; now: Date }>(
  'conversations.findRetention',
  'select settings, now() as now from apps where app_no = :appNo',
)

/** The conversations of the app's oldest messages: the first :limit entries of the primary key. */
export const listOldConversations = query<
  { appNo: number; before: number; limit: number },
  { conversation: number }
>(
  'conversations.listOld',
  `select conversation from (
     (select conversation from messages where app_no = :appNo and id < :before order by id limit :limit)
     union all
     (select conversation from held_messages where app_no = :appNo and id < :before order by id limit :limit)
   ) old group by conversation`,
)

export const expireMessages = query<
  { appNo: number; conversation: number; before: number; limit: number },
  { expired: number }
>(
  'conversations.expire',
  'select expire_messages(:appNo, :conversation, :before, :limit) as expired',
)
