import type { MessageRecord } from '@loquat/protocol'
import type { CellRows } from '../../../db/rows.gen.ts'
import { RULE_COLUMNS, type RuleRow } from '../../core/moderation/queries.ts'
import type { PendingCheck } from '../../core/moderation/slow.ts'
import { type Executor, query } from '../../platform/db/query.ts'

/** What a model is used for. */
export const USES = ['classifier', 'embeddings', 'prompts'] as const
export type Use = (typeof USES)[number]
export type Models = Partial<Record<Use, { providerId: string; model: string }>>

export type CheckSettingsRow = Omit<
  CellRows['check_settings'],
  'app_no' | 'updated_at' | 'models'
> & { models: Models }

const COLUMNS = `url, use_basic_auth, username, password_sealed, secret_sealed, old_secret_sealed, old_secret_until,
  timeout_ms, context_messages, on_failure, deadline_seconds, models`

/** Of an app that has set nothing. */
export const DEFAULT_SETTINGS: CheckSettingsRow = {
  ...{ url: null, use_basic_auth: false, username: null, password_sealed: null },
  ...{ secret_sealed: null, old_secret_sealed: null, old_secret_until: null },
  ...{ timeout_ms: 2_000, context_messages: 0, on_failure: 'disapproved', deadline_seconds: 60 },
  models: {},
}

const findCheckSettings = query<{ appNo: number }, CheckSettingsRow>(
  'checks.findSettings',
  `select ${COLUMNS} from check_settings where app_no = :appNo`,
)

export const readCheckSettings = async (db: Executor, appNo: number): Promise<CheckSettingsRow> =>
  (await findCheckSettings.maybeOne(db, { appNo })) ?? DEFAULT_SETTINGS

export const putCheckSettings = query<
  {
    appNo: number
    url: string | null
    useBasicAuth: boolean
    username: string | null
    passwordSealed: Buffer | null
    secretSealed: Buffer | null
    oldSecretSealed: Buffer | null
    oldSecretUntil: Date | null
    timeoutMs: number
    contextMessages: number
    onFailure: string
    deadlineSeconds: number
    models: string
  },
  CheckSettingsRow
>(
  'checks.putSettings',
  `insert into check_settings (app_no, ${COLUMNS})
   values (:appNo, :url, :useBasicAuth, :username, :passwordSealed, :secretSealed, :oldSecretSealed,
     :oldSecretUntil, :timeoutMs, :contextMessages, :onFailure, :deadlineSeconds, :models::jsonb)
   on conflict (app_no) do update set url = excluded.url, use_basic_auth = excluded.use_basic_auth,
     username = excluded.username, password_sealed = excluded.password_sealed,
     secret_sealed = excluded.secret_sealed, old_secret_sealed = excluded.old_secret_sealed,
     old_secret_until = excluded.old_secret_until, timeout_ms = excluded.timeout_ms,
     context_messages = excluded.context_messages, on_failure = excluded.on_failure,
     deadline_seconds = excluded.deadline_seconds, models = excluded.models, updated_at = now()
   returning ${COLUMNS}`,
)

export interface PendingRow {
  app_id: string
  conversation: number
  checks: PendingCheck[]
  overdue: boolean
  message: MessageRecord
}

/** A message that waits for its checks, as its sender sees it. No row if it was decided about or deleted. */
export const findPending = query<
  { appNo: number; id: string; deadlineSeconds: number },
  PendingRow
>(
  'checks.findPending',
  `select a.app_id, k.conversation, coalesce(k.checks, '[]') as checks,
     clock_timestamp() > k.held_at + make_interval(secs => :deadlineSeconds) as overdue,
     message_snapshot(as_message(k), h) as message
   from held_messages k
     join conversations h on h.app_no = k.app_no and h.no = k.conversation
     join apps a on a.app_no = k.app_no
   where k.app_no = :appNo and k.id = :id and k.status = 'pending'`,
)

/** Messages whose checks should have been over for a while. */
export const listOverdue = query<
  { deadlineSeconds: number; graceSeconds: number; limit: number },
  { app_no: number; id: number }
>(
  'checks.listOverdue',
  `select k.app_no, k.id from held_messages k
   where k.status = 'pending'
     and k.held_at < clock_timestamp() - make_interval(secs => :graceSeconds)
     and k.held_at < clock_timestamp() - make_interval(secs => :graceSeconds + coalesce((
       select c.deadline_seconds from check_settings c where c.app_no = k.app_no), :deadlineSeconds))
     and exists (select from working_apps() w where w.app_no = k.app_no)
   order by k.held_at limit :limit`,
)

/** The rules of these checks, as they were when the message was sent. */
export const listCheckedRules = query<{ appNo: number; checks: string }, RuleRow>(
  'checks.listRules',
  `select ${RULE_COLUMNS} from moderation_rules
   where app_no = :appNo and (rule_id, revision) in (
     select c."ruleId", c.revision from jsonb_to_recordset(:checks::jsonb) as c ("ruleId" text, revision int))
   order by rule_id`,
)

/** The texts among the last messages before one, oldest first. */
export const listContext = query<
  { appNo: number; conversation: number; id: string; limit: number },
  { sender: string; text: string }
>(
  'checks.listContext',
  `select m.sender, m.text from (
     select id, sender, data ->> 'text' as text, deleted_at from messages
     where app_no = :appNo and conversation = :conversation and id < :id
     order by id desc limit :limit) m
   where m.text is not null and m.deleted_at is null
   order by m.id`,
)
