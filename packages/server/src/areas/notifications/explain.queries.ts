import type { OccurringMessage } from '../../core/notifications/occurrence.ts'
import { query } from '../../platform/db/query.ts'

const columns = 'm.id, m.conversation, c.kind, m.sender, m.category, m.type, m.parent_id, m.data'
const conversation = 'join conversations c on c.app_no = m.app_no and c.no = m.conversation'

/** A message that was sent, or that moderation holds. */
export const findExplained = query<{ appNo: number; id: number }, OccurringMessage>(
  'notifications.findExplained',
  `select ${columns} from messages m ${conversation} where m.app_no = :appNo and m.id = :id
   union all
   select ${columns} from held_messages m ${conversation} where m.app_no = :appNo and m.id = :id
   limit 1`,
)

/** Pushes about a message that weren't accepted by their provider yet. A user has few. */
export const countWaiting = query<{ appNo: number; uid: string; id: number }, { waiting: number }>(
  'notifications.countWaiting',
  `select count(*) as waiting from notification_deliveries
   where app_no = :appNo and uid = :uid and message_id = :id`,
)

/** The enabled providers of email and SMS, with what they need to know about a user. */
export const listAddressing = query<
  { appNo: number; uid: string },
  { channel: 'email' | 'sms'; kind: string; stored: boolean; known: boolean }
>(
  'notifications.listAddressing',
  `select p.channel, p.kind,
     p.kind <> 'custom' or coalesce((p.details ->> case p.channel when 'email' then 'useStoredEmailID'
       else 'useStoredPhNo' end)::boolean, false) as stored,
     coalesce(case p.channel when 'email' then u.email else u.phno end, '') <> '' as known
   from notification_providers p
   left join notification_users u on u.app_no = p.app_no and u.uid = :uid
   where p.app_no = :appNo and p.channel in ('email', 'sms') and p.enabled order by p.channel, p.kind`,
)
