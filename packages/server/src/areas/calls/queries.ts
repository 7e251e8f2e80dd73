import type { CallStatus } from '@loquat/protocol'
import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import { LOST_SECONDS, OVERDUE_SECONDS } from './limits.ts'

export type CallRow = Omit<CellRows['calls'], 'app_no' | 'kind' | 'type' | 'mode' | 'status'> & {
  kind: 'user' | 'group'
  type: 'audio' | 'video'
  mode: 'call' | 'meet' | 'presenter'
  status: CallStatus
}
/** A user or a device in a call. `at` is the database's time. */
export type ParticipantRow = Omit<CellRows['call_participants'], 'app_no' | 'state'> & {
  state: 'invited' | 'waiting' | 'ongoing' | 'ended' | 'unanswered' | 'rejected'
  name: string
  at: Date
}

export const CALL_COLUMNS = `c.id, c.conversation, c.kind, c.receiver, c.initiator, c.type, c.mode, c.status, c.mid,
  c.joined, c.initiated_at, c.started_at, c.ended_at, c.lone_since, c.media_server, c.media_lost_at,
  c.media_version, c.recording_since, c.recorded, c.transcribed`

type OneCall = { appNo: number; id: number }

export const findCall = query<OneCall, CallRow & { active: boolean }>(
  'calls.find',
  `select ${CALL_COLUMNS}, is_active(c) as active from calls c where c.app_no = :appNo and c.id = :id`,
)

/** No row if the user doesn't see the call; see `sees_call`. */
export const findVisible = query<OneCall & { viewer: string }, CallRow>(
  'calls.findVisible',
  `select ${CALL_COLUMNS} from calls c
   where c.app_no = :appNo and c.id = :id and sees_call(c, :viewer)`,
)

/** In the order in which they are shown: a call has at most some hundred. */
export const listParticipants = query<{ appNo: number; ids: number[] }, ParticipantRow>(
  'calls.listParticipants',
  `select p.call_id, p.uid, p.no, p.state, p.device_id, p.joined_at, p.left_at, p.seen_at, p.hidden,
     coalesce(u.name, '') as name, clock_timestamp() as at
   from call_participants p left join users u on u.app_no = p.app_no and u.uid = p.uid
   where p.app_no = :appNo and p.call_id = any(:ids::bigint[])
   order by p.call_id, p.uid, p.no`,
)

/** No row if another call got the same id. */
export const insertCall = query<
  {
    appNo: number
    conversation: number
    kind: string
    receiver: string
    initiator: string
    type: string
    mode: string
    status: string
    started: boolean
  },
  CallRow
>(
  'calls.insert',
  `insert into calls as c (app_no, id, conversation, kind, receiver, initiator, type, mode, status, joined,
     started_at, lone_since)
   values (:appNo, tick(), :conversation, :kind, :receiver, :initiator, :type, :mode, :status,
     case when :started then 1 else 0 end,
     case when :started then clock_timestamp() end, case when :started then clock_timestamp() end)
   on conflict (app_no, id) do nothing
   returning ${CALL_COLUMNS}`,
)

/** The next place of a user in a call: 0, or that of one more device. */
export const insertParticipant = query<
  OneCall & { uid: string; state: string; deviceId: string | null; joined: boolean }
>(
  'calls.insertParticipant',
  `insert into call_participants (app_no, call_id, uid, no, state, device_id, joined_at)
   values (:appNo, :id, :uid, (
       select coalesce(max(no) + 1, 0) from call_participants
       where app_no = :appNo and call_id = :id and uid = :uid),
     :state, :deviceId, case when :joined then clock_timestamp() end)`,
)

/** Rings the active members of a group who have one of the scopes; null for all. Returns them. */
export const inviteMembers = query<
  OneCall & { conversation: number; initiator: string; scopes: string[] | null },
  { uid: string }
>(
  'calls.inviteMembers',
  `insert into call_participants (app_no, call_id, uid, state)
   select i.app_no, :id, i.uid, 'invited'
   from inbox i join users u on u.app_no = i.app_no and u.uid = i.uid
   where i.app_no = :appNo and i.conversation = :conversation and i.scope is not null and i.uid <> :initiator
     and (:scopes::text[] is null or i.scope = any(:scopes))
     and u.deactivated_at is null and u.removed_at is null
   order by i.uid
   returning uid`,
)

/** Where users are busy: they wait for an answer or are in a call. */
export const listActive = query<
  { appNo: number; uids: string[] },
  { uid: string; id: number; state: 'waiting' | 'ongoing' }
>(
  'calls.listActive',
  `select p.uid, p.call_id as id, p.state
   from call_participants p join calls c on c.app_no = p.app_no and c.id = p.call_id
   where p.app_no = :appNo and p.uid = any(:uids::text[]) and p.state in ('waiting', 'ongoing') and is_active(c)`,
)

/** The calls that a user is in or rings, and those that end with the user: their own ones, and 1:1 calls to them. */
export const listUnended = query<{ appNo: number; uid: string }, { id: number }>(
  'calls.listUnended',
  `select p.call_id as id from call_participants p
   where p.app_no = :appNo and p.uid = :uid and p.state in ('waiting', 'ongoing')
   union
   select c.id from calls c
   where c.app_no = :appNo and c.status in ('initiated', 'ongoing')
     and (c.initiator = :uid or c.kind = 'user' and c.receiver = :uid)
   order by id`,
)

/** The call of a group that isn't over, or that nobody has declared over yet. */
export const findCallOfGroup = query<
  { appNo: number; conversation: number },
  { id: number; active: boolean }
>(
  'calls.findOfGroup',
  `select c.id, is_active(c) as active from calls c
   where c.app_no = :appNo and c.conversation = :conversation and c.kind = 'group'
     and c.status in ('initiated', 'ongoing')`,
)

export const openConversation = query<
  { appNo: number; uid: string; other: string },
  { no: number }
>('calls.openConversation', 'select no from open_conversation(:appNo, :uid, :other)')

export const findFriend = query<{ appNo: number; uid: string; friend: string }, { uid: string }>(
  'calls.findFriend',
  `select friend_uid as uid from friends where app_no = :appNo and uid = :uid and friend_uid = :friend`,
)

/** The first answer: the caller's device is in the call from now on, too. */
export const startCallRow = query<OneCall>(
  'calls.start',
  `with caller as (
     update call_participants set state = 'ongoing', joined_at = clock_timestamp()
     where app_no = :appNo and call_id = :id and state = 'waiting'
   )
   update calls set status = 'ongoing', started_at = clock_timestamp(), joined = 2
   where app_no = :appNo and id = :id`,
)

export const countJoined = query<OneCall>(
  'calls.countJoined',
  'update calls set joined = joined + 1 where app_no = :appNo and id = :id',
)

type OnePlace = OneCall & { uid: string; no: number }

/** A user whom the call rings joins. */
export const joinPlace = query<OnePlace & { deviceId: string | null }>(
  'calls.joinPlace',
  `update call_participants set state = 'ongoing', joined_at = clock_timestamp(), device_id = :deviceId, hidden = false
   where app_no = :appNo and call_id = :id and uid = :uid and no = :no`,
)

/** Adds the time of the places in `gone` to the usage of the day, in milliseconds. */
const COUNT_TIME = `insert into usage_days as d (app_no, day, what, count)
   select :appNo::int, utc_day(clock_timestamp()), 'call.' || c.type || '.ms',
     sum(round(greatest(date_part('epoch', g.left_at - g.joined_at), 0) * 1000))::bigint
   from gone g join calls c on c.app_no = :appNo and c.id = :id
   where g.left_at is not null group by c.type
   on conflict (app_no, day, what) do update set count = d.count + excluded.count`

/** When a device that doesn't say any more that it is in the call last said so. */
const unseenFor = (seconds: number) =>
  `case when p.seen_at < clock_timestamp() - make_interval(secs => ${seconds}) then p.seen_at end`

/** When the last device disconnected, of a user who was connected but whose devices never said that they are in the call. */
const OFFLINE_SINCE = `(select u.last_active_at from users u
  where u.app_no = :appNo and u.uid = p.uid and p.seen_at is null and not u.online and u.last_active_at > p.joined_at)`

/** Without a media server nobody hears anybody, so that time doesn't count. */
const WITH_MEDIA = `least(clock_timestamp(),
  (select c.media_lost_at from calls c where c.app_no = :appNo and c.id = :id))`

/** The time in which a lost device wasn't seen doesn't count. */
export const leavePlace = query<OnePlace & { lost: boolean }>(
  'calls.leavePlace',
  `with gone as (
     update call_participants p set state = 'ended',
       left_at = greatest(joined_at, least(${WITH_MEDIA},
         case when :lost::boolean then coalesce(p.seen_at, ${OFFLINE_SINCE}) else ${unseenFor(LOST_SECONDS)} end))
     where app_no = :appNo and call_id = :id and uid = :uid and no = :no
     returning joined_at, left_at
   )
   ${COUNT_TIME}`,
)

export const rejectPlace = query<OnePlace>(
  'calls.rejectPlace',
  `update call_participants set state = 'rejected'
   where app_no = :appNo and call_id = :id and uid = :uid and no = :no`,
)

/** The call doesn't ring any longer for those who haven't answered. Returns them. */
export const silencePlaces = query<OneCall, { uid: string }>(
  'calls.silencePlaces',
  `update call_participants set state = 'unanswered'
   where app_no = :appNo and call_id = :id and state = 'invited'
   returning uid`,
)

/** The caller waits on another device. */
export const moveWaiting = query<OnePlace & { deviceId: string | null }>(
  'calls.moveWaiting',
  `update call_participants set device_id = :deviceId
   where app_no = :appNo and call_id = :id and uid = :uid and no = :no`,
)

/** Begins or ends the time in which only one device is in the call. */
export const setLone = query<OneCall & { lone: boolean }>(
  'calls.setLone',
  `update calls set lone_since = case when :lone then clock_timestamp() end
   where app_no = :appNo and id = :id`,
)

/**
 * Ends a call for everyone. A call that nobody answered has no end. A device that was lost just before hasn't been taken out
 * yet, so its time ends with its last sign of life.
 */
export const finishCall = query<OneCall & { status: CallStatus }>(
  'calls.finish',
  `with gone as (
     update call_participants p set
       state = case when state = 'ongoing' then 'ended' else 'unanswered' end,
       left_at = case when state = 'ongoing' then greatest(joined_at,
         least(${WITH_MEDIA}, ${unseenFor(OVERDUE_SECONDS)}, ${OFFLINE_SINCE})) end
     where app_no = :appNo and call_id = :id and state in ('invited', 'waiting', 'ongoing')
     returning joined_at, left_at
   ), finished as (
     update calls set status = :status, lone_since = null, recording_since = null,
       ended_at = case when started_at is not null then clock_timestamp() end
     where app_no = :appNo and id = :id
   )
   ${COUNT_TIME}`,
)

/** Adds the message about the new status; see `append_call`. */
export const appendCall = query<
  {
    appNo: number
    conversation: number
    by: string
    type: string
    action: string
    call: string
    moves: boolean
  },
  { message: unknown }
>(
  'calls.append',
  `select append_call(:appNo, :conversation, :by, :type, :action, :call::jsonb, :moves) as message`,
)

export const removeCall = query<OneCall>(
  'calls.remove',
  `with files as (delete from call_files where app_no = :appNo and call_id = :id),
     places as (delete from call_participants where app_no = :appNo and call_id = :id),
     connections as (delete from call_connections where app_no = :appNo and call_id = :id)
   delete from calls where app_no = :appNo and id = :id`,
)

/** Also for a member of a group that met without them. */
export const hideCall = query<OneCall & { uid: string }>(
  'calls.hide',
  `insert into call_participants as p (app_no, call_id, uid, state, hidden)
   values (:appNo, :id, :uid, 'unanswered', true)
   on conflict (app_no, call_id, uid, no) do update set hidden = true`,
)

/** Looks at the call again after this time. A statement, because the job itself changes calls. */
export const enqueueSweep = query<{ appNo: number; id: number; seconds: number }>(
  'calls.enqueueSweep',
  `select enqueue_job(:appNo::int, 'calls.sweep', jsonb_build_object('id', :id::bigint::text),
     make_interval(secs => :seconds::float8))`,
)

/** A device says that it is still in the call; see `see_device`. */
export const seeDevice = query<OneCall & { uid: string; deviceId: string }>(
  'calls.seeDevice',
  'select see_device(:appNo, :id, :uid, :deviceId)',
)

/** Looks for lost devices again. */
export const enqueueWatch = query<OneCall & { seconds: number; silent: boolean }>(
  'calls.enqueueWatch',
  `select enqueue_job(:appNo::int, 'calls.lost', jsonb_build_object('id', :id::bigint::text,
     'due', date_part('epoch', clock_timestamp()) + :seconds::float8, 'silent', :silent::boolean),
     make_interval(secs => :seconds::float8))`,
)

/**
 * Ends the connections of devices that aren't in the call any more, if the call has had any. The job knows them, because
 * the rows may go with their user or their group before it runs.
 */
export const enqueueHangUp = query<OneCall>(
  'calls.enqueueHangUp',
  `select enqueue_job(:appNo::int, 'calls.hangUp', jsonb_build_object('id', c.id::text, 'mid', c.mid,
     'server', c.media_server, 'left', coalesce((
       select jsonb_agg(jsonb_build_object('server', k.server, 'handle', k.handle)) from call_connections k
       where k.app_no = :appNo and k.call_id = :id and not exists (select from call_participants p
         where p.app_no = :appNo and p.call_id = :id and p.uid = k.uid and p.no = k.no and p.state = 'ongoing')), '[]')))
   from calls c where c.app_no = :appNo and c.id = :id and c.media_server is not null`,
)

/** Whether the call is one of the user's, and whether the user and another one are in it now. */
export const findSignalling = query<
  OneCall & { uid: string; to: string },
  { invited: boolean; inside: boolean; other: boolean }
>(
  'calls.findSignalling',
  `select coalesce(bool_or(p.uid = :uid), false) as invited,
     coalesce(bool_or(p.uid = :uid and p.state = 'ongoing'), false) as inside,
     coalesce(bool_or(p.uid = :to and p.state = 'ongoing'), false) as other
   from call_participants p
   where p.app_no = :appNo and p.call_id = :id and p.uid in (:uid, :to)`,
)

/**
 * Calls that a user must leave: with somebody who is blocked, of groups that the user isn't in any more, or all of a user who
 * is gone, or who is offline if that matters.
 */
export const listToLeave = query<{ appNo: number; uid: string; offline: boolean }, { id: number }>(
  'calls.listToLeave',
  `select p.call_id as id from call_participants p join calls c on c.app_no = p.app_no and c.id = p.call_id
   where p.app_no = :appNo and p.uid = :uid and p.state in ('waiting', 'ongoing') and (
     not exists (select from users u where u.app_no = :appNo and u.uid = :uid
       and u.deactivated_at is null and u.removed_at is null and (u.online or not :offline::boolean))
     or c.kind = 'user' and exists (select from conversations h
       where h.app_no = :appNo and h.no = c.conversation and (h.blocked_one or h.blocked_other))
     or c.kind = 'group' and not exists (select from inbox i
       where i.app_no = :appNo and i.uid = :uid and i.kind = 'group' and i.with_id = c.receiver
         and i.scope is not null))`,
)
