/**
 * Reads what the decision looks at, for many receivers at once, and decides. The notifier asks for chunks of the members
 * of a group, and `explain` for one user: both get their answers here.
 */
import { type Executor, query } from '../../platform/db/query.ts'
import type { PushCredentials } from '../../platform/push/push.ts'
import type { AppRules } from '../access/rules.ts'
import { isShown, messageLimits } from '../access/visible.ts'
import { SANCTION_IS_IN_FORCE } from '../sanctions.ts'
import { type Choices, settingsOfUser } from './choices.ts'
import { type Decision, decide, type Facts, type Occasion } from './decide.ts'
import type { Occurrence } from './occurrence.ts'
import type { Preferences } from './preferences.ts'
import type { Templates } from './templates.ts'

/** A provider of the channel push, without its secrets. */
export interface PushProvider {
  kind: PushCredentials['provider']
  /** Chosen by the app. Empty for kinds that an app has only once. */
  id: string
  isDefault: boolean
}

/** What notifications know about an app. */
export interface NotifiedApp {
  no: number
  settings: { preferences: Preferences; templates: Templates }
  /** The enabled ones. */
  providers: readonly PushProvider[]
  rules: AppRules
  /** Whether any user is banned or muted. */
  sanctioned: boolean
}

/** A device that receives push. */
export interface PushDevice {
  /** The hash of its token, in hexadecimal. */
  hash: string
  platform: string
  providerId: string | null
}

type EventArrays = {
  nths: number[]
  conversations: number[]
  messageIds: number[]
  bys: string[]
  ats: Date[]
}

type ReceiverRow = {
  nth: number
  uid: string
  author: string | null
  /** Whether there is no such message any more. */
  gone: boolean
  held: boolean
  role: string | null
  takes_part: boolean
  cleared: boolean
  /** Whether the receiver's scope hides reactions of others. */
  unseen: boolean
  read: boolean
  banned: boolean
  blocked: boolean
  choices: Choices | null
  timezone: string | null
  muted_until: Date | null
  devices: PushDevice[] | null
}

/** The other user of a 1:1 conversation `h`, or its group. */
const COUNTERPART = `case when h.kind = 'group' or h.other = p.uid then h.one else h.other end`

/** One row for each pair of event and user, in the order of the pairs. About ten index lookups each. */
const listFacts = query<
  EventArrays & {
    appNo: number
    sanctioned: boolean
    pairNths: number[]
    uids: string[]
  },
  ReceiverRow
>(
  'notifications.listFacts',
  `select e.nth, p.uid, m.sender as author, m.id is null or m.deleted_at is not null as gone,
     k.id is not null as held,
     case u.role when 'default' then u.role else shown_role(:appNo, u.role) end as role,
     case h.kind when 'group' then i.scope is not null and i.joined_at <= e.at and g.guid is not null
       else p.uid in (h.one, h.other) end as takes_part,
     e.message_id <= h.purged_id or e.message_id <= coalesce(i.cleared_id, 0) as cleared,
     coalesce(rules #>> '{listReactions,value}' = 'deny'
       or jsonb_array_length(rules #> '{listReactions.allowedScopes,value}') > 0, false) as unseen,
     coalesce(i.read_id, 0) >= e.message_id as read,
     :sanctioned::boolean and exists (
       select from sanctions s where s.app_no = :appNo and s.uid = p.uid and s.kind = 'ban'
         and s.guid = '' and ${SANCTION_IS_IN_FORCE}) as banned,
     exists (select from blocks b where b.app_no = :appNo and b.uid = p.uid and b.blocked_uid = e.by)
       or exists (select from blocks b where b.app_no = :appNo and b.uid = e.by and b.blocked_uid = p.uid)
       as blocked,
     n.choices, n.timezone, q.until as muted_until, (
       select json_agg(json_build_object('hash', encode(t.push_hash, 'hex'), 'platform', t.platform,
         'providerId', t.provider_id) order by t.push_hash)
       from push_tokens t where t.app_no = :appNo and t.uid = p.uid) as devices
   from unnest(:pairNths::int[], :uids::text[]) with ordinality as p (nth, uid, place)
   join unnest(:nths::int[], :conversations::bigint[], :messageIds::bigint[], :bys::text[],
     :ats::timestamptz[]) as e (nth, conversation, message_id, by, at) on e.nth = p.nth
   join conversations h on h.app_no = :appNo and h.no = e.conversation
   left join messages m on m.app_no = :appNo and m.id = e.message_id
   left join held_messages k on k.app_no = :appNo and k.id = e.message_id
   left join groups g on h.kind = 'group' and g.app_no = :appNo and g.guid = h.one
     and g.removed_at is null
   left join users u on u.app_no = :appNo and u.uid = p.uid and u.deactivated_at is null
     and u.removed_at is null
   left join inbox i on i.app_no = :appNo and i.uid = p.uid and i.kind = h.kind
     and i.with_id = ${COUNTERPART}
   left join lateral scope_rules(g.permissions, g.owner, i.scope, p.uid) rules on true
   left join notification_users n on n.app_no = :appNo and n.uid = p.uid
   left join notification_mutes q on q.app_no = :appNo and q.kind = h.kind
     and q.with_id = ${COUNTERPART} and q.uid = p.uid
   order by p.place`,
)

/** An event with the users who may be notified of it. */
export interface Asked {
  occurrence: Occurrence
  uids: readonly string[]
}

/** What is known about a receiver, except what belongs to a channel. */
export interface Receiver {
  uid: string
  devices: PushDevice[]
  /** Whether notifications to this user have no text of messages. */
  isPrivate: boolean
  facts: Omit<Facts, 'channel' | 'ready'>
}

/** In the order of the events and of their users. Users who don't exist, and conversations that are gone, are left out. */
export async function readReceivers(
  db: Executor,
  app: NotifiedApp,
  asked: readonly Asked[],
  now: (occurrence: Occurrence) => Date = ({ at }) => at,
): Promise<Receiver[][]> {
  const occurrences = asked.map(({ occurrence }) => occurrence)
  const rows = await listFacts.many(db, {
    ...{ appNo: app.no, sanctioned: app.sanctioned },
    nths: occurrences.map((_, nth) => nth),
    conversations: occurrences.map(({ conversation }) => conversation),
    messageIds: occurrences.map(({ message }) => message.id),
    bys: occurrences.map(({ by }) => by),
    ats: occurrences.map(({ at }) => at),
    pairNths: asked.flatMap(({ uids }, nth) => uids.map(() => nth)),
    uids: asked.flatMap(({ uids }) => uids),
  })
  const receivers = asked.map((): Receiver[] => [])
  for (const row of rows) {
    const occurrence = occurrences[row.nth] as Occurrence
    receivers[row.nth]?.push(toReceiver(app, occurrence, row, now(occurrence)))
  }
  return receivers
}

function toReceiver(
  app: NotifiedApp,
  occurrence: Occurrence,
  row: ReceiverRow,
  at: Date,
): Receiver {
  const { uid, choices, timezone, muted_until, devices } = row
  const { preferences, templates } = choices ? settingsOfUser(app.settings, choices) : app.settings
  return {
    ...{ uid, devices: devices ?? [], isPrivate: templates.usePrivacyTemplate === 2 },
    facts: {
      occasion: occasionOf(occurrence, row),
      conversation: occurrence.kind === 'group' ? 'group' : 'oneOnOne',
      ...{ preferences, zone: timezone ?? 'UTC', at },
      ...(muted_until && { mutedUntil: muted_until }),
      own: uid === occurrence.by,
      hidden: isHidden(app, occurrence, row),
      ...{ held: row.held, blocked: row.blocked },
      read: occurrence.type !== 'reaction' && !isCall(occurrence) && row.read,
    },
  }
}

function occasionOf({ type, mentioned }: Occurrence, { uid, author }: ReceiverRow): Occasion {
  if (type === 'message' || type === 'reply') return { type, mentioned: mentioned.includes(uid) }
  // What rang is taken back, whatever the app has chosen for the end.
  if (type === 'call' || type === 'callOver') return { type: 'call', action: 'initiated' }
  return type === 'reaction' ? { type, own: author === uid } : { type }
}

/** Calls ring whether or not their messages are read or shown. */
const isCall = ({ type }: Pick<Occurrence, 'type'>) => type === 'call' || type === 'callOver'

/** Whether the receiver may not see it: a held message is another matter, and a deletion is about a message that is gone. */
function isHidden(
  { rules }: NotifiedApp,
  { type, message }: Occurrence,
  row: ReceiverRow,
): boolean {
  const { role, takes_part, cleared, banned, unseen, gone, held } = row
  if (role === null || !takes_part || banned) return true
  // What rang is taken back, whatever has become of its message.
  if (type === 'callOver') return false
  if (cleared) return true
  if (type === 'reaction' && unseen) return true
  if (gone && !held && type !== 'messageDeleted') return true
  return !isCall({ type }) && !isShown(messageLimits(rules.get(role)), message)
}

/** A push to a device; without a device, to a server of the app that knows the receiver's devices itself. */
export interface PushDecision {
  device?: PushDevice
  provider?: PushProvider
  decision: Decision
}

/** What is decided about each way to reach a receiver over the channel push; about none in particular if there is none. */
export function decidePush(app: NotifiedApp, { facts, devices }: Receiver): PushDecision[] {
  const of = (ready: Facts['ready']) => decide({ ...facts, channel: 'push', ready })
  const decisions = reachedBy(facts.occasion, devices).map((device): PushDecision => {
    const provider = providerOf(app, device)
    return typeof provider === 'string'
      ? { device, decision: of(provider) }
      : { device, provider, decision: of('yes') }
  })
  const custom = app.providers.find(({ kind }) => kind === 'custom')
  if (custom) decisions.push({ provider: custom, decision: of('yes') })
  return decisions.length > 0 ? decisions : [{ decision: of('noToken') }]
}

const isForCalls = ({ platform }: PushDevice) => platform.endsWith('_voip')

/**
 * Tokens for calls ring: Apple ends apps that get anything else over them. A call doesn't also go to Apple's other tokens of
 * the user, because the same phones have both.
 */
function reachedBy({ type }: Occasion, devices: readonly PushDevice[]): PushDevice[] {
  if (type !== 'call') return devices.filter((device) => !isForCalls(device))
  return devices.some(isForCalls)
    ? devices.filter((device) => isForCalls(device) || !device.platform.startsWith('apns_'))
    : [...devices]
}

/** The provider of a device: the one that it names, or the default of its kind. */
export function providerOf(
  { providers }: Pick<NotifiedApp, 'providers'>,
  { platform, providerId }: Pick<PushDevice, 'platform' | 'providerId'>,
): PushProvider | 'noProvider' | 'unknownProvider' {
  const kind = kindOf(platform)
  const known = providers.filter((provider) => provider.kind === kind)
  if (providerId !== null) return known.find(({ id }) => id === providerId) ?? 'unknownProvider'
  return known.find(({ isDefault, id }) => isDefault || id === '') ?? 'noProvider'
}

/** `fcm_android` is a platform of `fcm`. */
const kindOf = (platform: string) =>
  platform === 'web_push' ? platform : platform.slice(0, platform.indexOf('_'))
