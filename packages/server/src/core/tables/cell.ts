import type { CellRows } from '../../../db/rows.gen.ts'
import { ADD_CHANGE, ADD_REMOVE, ALL, CHANGE, type Table } from './table.ts'

const KNOWLEDGE =
  'Texts of the app, not of its users. Nobody knows which of them are about a user; the app deletes those.'

/**
 * The tables of a cell. Rows of an app have its `app_no`; purge_app deletes them, so the service may delete from all
 * of these tables.
 */
// biome-ignore format: one line per table
export const cellTables = {
  // Apps and their credentials.
  apps: { moves: 'replicated', exported: 'settings', service: ALL, audit: '*', plain: 'app_no app_id settings ceilings created_at archived_at suspended_at throttle search_upto special_roles moderation' },
  api_keys: { moves: 'replicated', service: ALL, audit: 'app_no name scope created_at', sealed: { key_sealed: 'api_keys.key' }, hashed: 'key_hash', plain: 'app_no name scope created_at' },
  auth_tokens: { moves: 'replicated', service: ALL, audit: 'app_no uid audit_id created_at', erased: 'deleted', people: 'uid', personal: 'platform user_agent app_info', sealed: { token_sealed: 'auth_tokens.token' }, hashed: 'token_hash', plain: 'app_no audit_id created_at' },
  revocations: { moves: 'stays', service: ADD_REMOVE, erased: { kept: 'Deleted after two hours at most. They are read until then, so that no process trusts what it has cached.' }, people: 'id', plain: 'at app_no kind' },
  idempotency: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', personal: 'key', sealed: { answer_sealed: 'idempotency.answer' }, hashed: 'credential request_hash', plain: 'app_no created_at message_id' },

  // Background work.
  workers: { moves: 'stays', service: ALL, plain: 'worker_id expires_at' },
  leases: { moves: 'stays', service: ADD_CHANGE, plain: 'job worker_id epoch' },
  jobs: { moves: 'replicated', service: ALL, erased: 'deleted', personal: 'dedupe_key serial_key input checkpoint error', plain: 'app_no id name state priority tries epoch cancelling again stepped worker_id run_at deadline created_at ended_at done total' },
  job_steps: { moves: 'replicated', service: ADD_REMOVE, erased: 'deleted', personal: 'result', plain: 'app_no job_id step' },
  job_schedules: { moves: 'replicated', service: ALL, erased: { kept: 'No schedule is about a user.' }, personal: 'input', plain: 'app_no key name every_seconds at zone days next_at' },

  // The event log. A move first waits until the app's events have positions.
  event_bodies: { moves: 'replicated', service: ADD_REMOVE, erased: 'tombstone', people: 'key to_first to_second active_uid', personal: 'payload', plain: 'id app_no day at type counts_as' },
  event_positions: { moves: 'replicated', service: ADD_REMOVE, erased: 'tombstone', people: 'to_first to_second', plain: 'position body_id app_no day body_day type' },
  sequencer_progress: { moves: 'stays', service: CHANGE, plain: 'taken gaps watched stamp stamp_day since' },
  positions: { moves: 'replicated', service: ALL, plain: 'app_no position' },
  log_breaks: { moves: 'replicated', service: ADD_REMOVE, audit: '*', plain: 'app_no last next at' },
  log_origin: { moves: 'stays', service: CHANGE, audit: '*', plain: 'system_id timeline wal_position break_no' },

  // Users and their relations.
  roles: { moves: 'replicated', exported: 'roles', service: ALL, plain: 'app_no role name description metadata settings permissions restrictions built_in created_at updated_at removed_at' },
  moderation_rules: { moves: 'replicated', exported: 'settings', service: ALL, erased: 'changed', people: 'filters', plain: 'app_no rule_id revision active name description enabled action conditions created_at updated_at' },
  keyword_lists: { moves: 'replicated', exported: 'settings', service: ALL, plain: 'app_no list_id revision name description category from_file entries created_at updated_at' },
  check_settings: { moves: 'replicated', exported: 'settings', service: ALL, sealed: { password_sealed: 'check_settings.password', secret_sealed: 'check_settings.secret', old_secret_sealed: 'check_settings.secret' }, plain: 'app_no url use_basic_auth username old_secret_until timeout_ms context_messages on_failure deadline_seconds models updated_at' },
  model_providers: { moves: 'replicated', exported: 'settings', service: ALL, sealed: { key_sealed: 'model_providers.key' }, plain: 'app_no provider_id name kind url input_price output_price fallback_id fallback_model embedding_model created_at updated_at' },
  agents: { moves: 'replicated', exported: 'settings', service: ALL, erased: { kept: 'Names agents, which are programs of the app.' }, people: 'uid', sealed: { headers_sealed: 'agents.headers' }, plain: 'app_no kind name active definition revision last_message_at created_at updated_at deleted_at' },
  agent_revisions: { moves: 'replicated', exported: 'settings', service: ADD_REMOVE, erased: { kept: 'Names agents, which are programs of the app, and operators.' }, people: 'agent_uid operator', plain: 'app_no no content changed api_key restores created_at' },
  agent_blocks: { moves: 'replicated', exported: 'settings', service: ALL, sealed: { secret_sealed: 'agent_blocks.secret' }, plain: 'app_no kind slug definition listed listed_digest listed_at created_at updated_at' },
  agent_progress: { moves: 'replicated', service: ALL, plain: 'app_no position' },
  agent_runs: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'agent_uid uid', personal: 'error', plain: 'app_no run_id conversation guid message_id thread_id job_id revision state reason answer_id waiting_since waited_ms created_at started_at ended_at' },
  agent_steps: { moves: 'replicated', service: ALL, erased: 'deleted', personal: 'text calls tool display_name call_id arguments result error', plain: 'app_no run_id no attempt kind state provider_id model input_tokens output_tokens reserved_tokens reserved_money charged_tokens charged_money waits_for approved_at started_at ended_at' },
  agent_replays: { moves: 'replicated', service: ALL, erased: 'deleted', personal: 'error answer', plain: 'app_no replay_id run_id mode revision changes job_id state reason verdict created_at started_at ended_at' },
  agent_ratings: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid agent_uid', personal: 'comment', plain: 'app_no rating_id run_id revision up created_at updated_at' },
  agent_handovers: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'agent_uid uid taken_by', personal: 'reason', plain: 'app_no handover_id conversation opened_by upto_id opened_at taken_at answered_at hand_back_at closed_at closed_by' },
  agent_budgets: { moves: 'replicated', exported: 'settings', service: ALL, plain: 'app_no run_tokens run_money user_day_tokens user_day_money user_day_calls app_month_tokens app_month_money app_month_calls' },
  agent_spending: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no period tokens money calls replay_tokens replay_money' },
  embedding_calls: { moves: 'replicated', service: ALL, plain: 'app_no call_id model reserved_tokens charged_tokens started_at' },
  knowledge_sources: { moves: 'replicated', exported: 'settings', service: ALL, erased: { kept: KNOWLEDGE }, personal: 'title body file_name url', plain: 'app_no source_id kind file_id mime_type depth most_pages indexes pages links_lost state reason revision chunks created_at updated_at' },
  knowledge_pages: { moves: 'replicated', service: ALL, erased: { kept: KNOWLEDGE }, personal: 'url title description', plain: 'app_no source_id page_id no depth state reason due_at tries etag last_modified digest chunks crawled_at created_at updated_at' },
  knowledge_chunks: { moves: 'replicated', service: ALL, erased: { kept: KNOWLEDGE }, personal: 'heading text words', plain: 'app_no chunk_id source_id page_id no' },
  knowledge_vectors: { moves: 'replicated', service: ALL, erased: { kept: KNOWLEDGE }, personal: 'vector', plain: 'app_no chunk_id model dimensions' },
  agent_sources: { moves: 'replicated', exported: 'settings', service: ALL, erased: { kept: 'Names agents, which are programs of the app.' }, people: 'agent_uid', plain: 'app_no source_id' },
  flag_reasons: { moves: 'replicated', exported: 'settings', service: ALL, plain: 'app_no reason_id name description created_at updated_at' },
  users: { moves: 'replicated', exported: 'users', service: ALL, erased: 'deleted', people: 'uid', personal: 'name name_key avatar link status_message metadata tags last_active_at online card', plain: 'app_no avatar_file role created_at added_at updated_at deactivated_at removed_at bot' },
  friends: { moves: 'replicated', exported: 'friends', service: ADD_REMOVE, erased: 'deleted', people: 'uid friend_uid', plain: 'app_no created_at' },
  blocks: { moves: 'replicated', exported: 'blocks', service: ADD_REMOVE, erased: 'deleted', people: 'uid blocked_uid', plain: 'app_no created_at' },
  totals: { moves: 'replicated', service: ALL, plain: 'app_no what shard total' },
  gateways: { moves: 'stays', service: ALL, plain: 'gateway seen_at expires_at ended' },
  presence: { moves: 'drained', service: ALL, erased: 'deleted', people: 'uid', personal: 'name_key', plain: 'app_no gateways' },

  // Groups, conversations and messages.
  groups: { moves: 'replicated', exported: 'groups', service: ALL, erased: 'changed', people: 'owner updated_by', personal: 'name name_key icon description metadata tags card', hashed: 'password_hash', plain: 'app_no guid type icon_file permissions members_count created_at updated_at created_second changed_second removed_at' },
  bans: { moves: 'replicated', exported: 'bans', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no guid scope joined_at banned_at until' },
  sanctions: { moves: 'replicated', exported: 'bans', service: ALL, erased: 'deleted', people: 'uid', personal: 'reason', plain: 'app_no id kind guid until created_at updated_at' },
  former_members: { moves: 'replicated', service: ADD_REMOVE, erased: 'deleted', people: 'uid', plain: 'app_no conversation guid at' },
  conversations: { moves: 'replicated', exported: 'conversations', service: ALL, erased: 'deleted', people: 'one other shown_sender', personal: 'shown_data shown_muid', plain: 'app_no no kind last_id shown_id delivered_at read_at created_second updated_second updated_before stored removed counted hidden purged_id purged_counted purging blocked_one blocked_other' },
  inbox: { moves: 'replicated', exported: 'conversations', service: ALL, erased: 'deleted', people: 'uid with_id', personal: 'tags', plain: 'app_no kind conversation read_id read_counted own_since cleared_id pinned_at visible blocked created_second scope joined_at' },
  direct_views: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid with_id', plain: 'app_no blocked updated_second' },
  view_totals: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no visible unblocked' },
  app_pins: { moves: 'replicated', exported: 'settings', service: ALL, erased: 'deleted', people: 'id', plain: 'app_no place kind pinned_at' },
  messages: { moves: 'replicated', exported: 'messages', service: ALL, erased: 'deleted', people: 'sender edited_by deleted_by pinned_by', personal: 'data tags muid', plain: 'app_no id conversation category type parent_id quoted_id counts shows counted updated_at edited_at deleted_at pinned_at reacted saved silent' },
  held_messages: { moves: 'replicated', exported: 'messages', service: ALL, erased: 'deleted', people: 'sender', personal: 'data tags muid', plain: 'app_no id conversation category type parent_id quoted_id counts shows counted status checks rule delivered held_at' },
  held_edits: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'edited_by', personal: 'data tags mentions', plain: 'app_no id edit_no files edited_before checks held_at' },
  rule_previews: { moves: 'replicated', service: ALL, erased: 'changed', people: 'rule', personal: 'samples', plain: 'app_no id after_id before_id from_second to_second most checked blocked newly_blocked no_longer_blocked too_slow progress complete created_at ended_at' },
  imports: { moves: 'replicated', service: ALL, plain: 'app_no id state dry_run by_conversation parts bytes job_id place counts problems erasures created_at started_at ended_at' },
  import_parts: { moves: 'replicated', service: ALL, erased: { kept: 'What the app uploaded. Lines about the user are refused. It goes when the import ends, at the latest after 30 days.' }, personal: 'content', plain: 'app_no import_id part' },
  import_problems: { moves: 'replicated', service: ALL, erased: 'deleted', personal: 'message', plain: 'app_no import_id part line code' },
  import_sums: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'conversation', plain: 'app_no import_id kind imported checksum there there_checksum' },
  exports: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid place', plain: 'app_no id conversation from_second to_second in_store parts bytes sums created_at ended_at' },
  export_parts: { moves: 'replicated', service: ALL, erased: 'deleted', personal: 'content', plain: 'app_no export_id part object' },
  checked_messages: { moves: 'replicated', exported: 'messages', service: ALL, erased: 'deleted', people: 'sender receiver', personal: 'data muid', plain: 'app_no id kind category type status rule edited_at' },
  flags: { moves: 'replicated', exported: 'messages', service: ALL, erased: 'deleted', people: 'uid', personal: 'remark', plain: 'app_no message_id reason_id flagged_at' },
  reviews: { moves: 'replicated', exported: 'messages', service: ALL, erased: 'deleted', people: 'sender reviewed_by', personal: 'found note', plain: 'app_no message_id rule_id rule_name revision_id condition actions reason blocked_at updated_at reviewed_at decision' },
  subject_flags: { moves: 'replicated', exported: 'users', service: ALL, erased: 'deleted', people: 'subject uid', personal: 'remark', plain: 'app_no kind item_id reason_id flagged_at' },
  review_claims: { moves: 'replicated', service: ALL, erased: { kept: 'Names moderators, who are operators.' }, people: 'moderator', plain: 'app_no item_id until' },
  muids: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'sender target', personal: 'muid', plain: 'app_no message_id' },
  gone_messages: { moves: 'replicated', service: ADD_REMOVE, plain: 'app_no id' },
  uncounted: { moves: 'replicated', service: ADD_REMOVE, plain: 'app_no conversation id' },
  threads: { moves: 'replicated', service: ALL, plain: 'app_no parent_id conversation replies last_id updated_second' },
  thread_users: { moves: 'replicated', exported: 'threads', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no parent_id conversation direct wrote follows' },
  mentions: { moves: 'replicated', service: ADD_REMOVE, erased: 'deleted', people: 'uid', plain: 'app_no conversation message_id parent_id counts' },
  interactions: { moves: 'replicated', exported: 'interactions', service: ADD_REMOVE, erased: 'deleted', people: 'uid', personal: 'element_id', plain: 'app_no message_id at' },
  reactions: { moves: 'replicated', exported: 'reactions', service: ADD_REMOVE, erased: 'deleted', people: 'uid', personal: 'reaction', plain: 'app_no message_id id reacted_at' },
  reaction_counts: { moves: 'replicated', service: ALL, erased: 'deleted', personal: 'reaction', plain: 'app_no message_id count first_id' },
  saves: { moves: 'replicated', exported: 'saves', service: ADD_REMOVE, erased: 'deleted', people: 'uid', plain: 'app_no message_id saved_at' },

  // Calls.
  calls: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'receiver initiator', plain: 'app_no id conversation kind type mode status mid joined initiated_at started_at ended_at lone_since media_server media_lost_at media_version recording_since recorded transcribed' },
  call_connections: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no call_id no what id server handle audio video' },
  call_files: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no call_id id kind file_id source type mid started_at ended_at created_at' },
  call_recordings: { moves: 'replicated', service: ALL, erased: 'changed', people: 'uid', plain: 'app_no call_id id connection room source told started_at ended_at' },
  call_participants: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', personal: 'device_id', plain: 'app_no call_id no state joined_at left_at seen_at hidden' },

  // Files. Their bytes are in a store of the region, and stay there when the app moves to another cell of it.
  files: { moves: 'replicated', exported: 'files', service: ALL, erased: 'deleted', people: 'uid', personal: 'name details sha256', plain: 'app_no id state type size stored part_size voice picture reason refs expires_at upload_ends_at created_at' },
  file_references: { moves: 'replicated', service: ADD_REMOVE, plain: 'app_no message_id file_id' },
  removed_uploads: { moves: 'replicated', service: ADD_REMOVE, plain: 'app_no file_id ends_at' },
  file_kinds: { moves: 'replicated', exported: 'usage', service: ALL, plain: 'app_no kind files bytes' },
  file_usage: { moves: 'replicated', exported: 'usage', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no files bytes' },

  // Receipts.
  marks: { moves: 'replicated', exported: 'receipts', service: ALL, erased: 'deleted', people: 'uid', plain: 'app_no conversation kind upto_id at' },
  mark_thinning: { moves: 'stays', service: CHANGE, erased: { kept: 'A place in the order of marks, which moves on within a day.' }, people: 'place', plain: 'began_at' },
  receipt_progress: { moves: 'replicated', service: ALL, plain: 'app_no kind position ended' },
  receipt_floors: { moves: 'replicated', service: ALL, erased: 'changed', people: 'ahead_uid laggards', plain: 'app_no kind conversation floor ahead_id bound deleted' },

  // The search index.
  search_segments: { moves: 'rebuilt', service: ALL, plain: 'app_no upto_id after_id messages version' },
  search_ids: { moves: 'rebuilt', service: ADD_REMOVE, plain: 'app_no upto_id block ids' },
  search_grams: { moves: 'rebuilt', service: ALL, erased: 'deleted', personal: 'gram ordinals', plain: 'app_no upto_id' },
  search_changes: { moves: 'rebuilt', service: ALL, plain: 'app_no id' },

  // Webhooks.
  webhooks: { moves: 'replicated', exported: 'webhooks', service: ALL, sealed: { password_sealed: 'webhooks.password', secret_sealed: 'webhooks.secret', old_secret_sealed: 'webhooks.secret' }, plain: 'app_no no shard id name url use_basic_auth username enabled retry_on_failure triggers types since old_secret_until removed created_at updated_at' },
  webhook_progress: { moves: 'replicated', service: ALL, plain: 'app_no webhook_no position failures failing_since failed_at probes waits_until' },
  webhook_parked: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'key', plain: 'app_no webhook_no tries retry_at' },
  webhook_backlog: { moves: 'replicated', service: ADD_REMOVE, erased: 'deleted', people: 'key', plain: 'app_no webhook_no position' },
  webhook_dead_letters: { moves: 'replicated', service: ALL, plain: 'app_no webhook_no position upto type reason at' },
  webhook_deliveries: { moves: 'replicated', service: ALL, erased: 'changed', personal: 'answer', plain: 'app_no webhook_no id position type try status error duration_ms at day' },

  // Notifications.
  notification_settings: { moves: 'replicated', exported: 'settings', service: ALL, plain: 'app_no settings' },
  notification_users: { moves: 'replicated', exported: 'users', service: ALL, erased: 'deleted', people: 'uid email phno', personal: 'choices timezone', plain: 'app_no' },
  notification_mutes: { moves: 'replicated', exported: 'users', service: ALL, erased: 'deleted', people: 'uid with_id', plain: 'app_no kind until' },
  notification_providers: { moves: 'replicated', exported: 'settings', service: ALL, sealed: { secret_sealed: 'notification_providers.secret' }, plain: 'app_no channel kind provider_id is_default enabled details created_at updated_at' },
  notification_batches: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', personal: 'due_at sent_day sent_today ended_at', plain: 'app_no channel conversation first_id covered_id' },
  suppressed_addresses: { moves: 'replicated', exported: 'settings', service: ALL, erased: 'deleted', people: 'address', personal: 'reason details', plain: 'app_no id channel' },
  push_tokens: { moves: 'replicated', exported: 'users', service: ALL, erased: 'deleted', people: 'uid', personal: 'platform', sealed: { push_sealed: 'push_tokens.push' }, hashed: 'push_hash token_hash', plain: 'app_no provider_id created_at updated_at' },
  notification_logging: { moves: 'replicated', service: ALL, plain: 'app_no until' },
  notification_logs: { moves: 'replicated', service: ADD_REMOVE, erased: 'deleted', people: 'uid sender receiver reaction_sender', personal: 'platform push_token payload', plain: 'app_no id channel trigger message_id reaction_id category type receiver_type provider provider_id triggered reason success sent_at started_at ended_at day' },
  notifier_progress: { moves: 'replicated', service: ALL, plain: 'app_no shard position' },
  notification_fanouts: { moves: 'replicated', service: ALL, erased: { kept: 'Gone as soon as the receivers of an event are decided about.' }, people: 'key after_uid', plain: 'app_no position' },
  notification_deliveries: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid by_uid', hashed: 'push_hash', plain: 'app_no id channel provider conversation position message_id what private ids tries due_at expires_at' },
  notification_held: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid by_uid', plain: 'app_no position conversation message_id until' },
  notification_shown: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', hashed: 'push_hash', plain: 'app_no conversation ids shown_at' },

  // Erasures.
  erasures_done: { moves: 'replicated', service: ADD_REMOVE, plain: 'app_no id' },

  // Usage.
  usage_progress: { moves: 'replicated', service: ALL, plain: 'app_no position' },
  usage_days: { moves: 'replicated', exported: 'usage', service: ALL, plain: 'app_no day what count' },
  usage_steps: { moves: 'replicated', service: ALL, plain: 'app_no at what count' },
  usage_peaks: { moves: 'replicated', exported: 'usage', service: ALL, plain: 'app_no day online' },
  usage_activity: { moves: 'replicated', service: ALL, erased: 'deleted', people: 'uid', personal: 'day', plain: 'app_no' },
  usage_returns: { moves: 'replicated', exported: 'usage', service: ALL, plain: 'app_no day before users' },
  usage_seen: { moves: 'replicated', service: ADD_REMOVE, erased: 'deleted', people: 'uid', plain: 'app_no day' },
} as const satisfies Record<keyof CellRows, Table>

/** SQL views, which the service reads. */
export const cellViews = ['events', 'outbox'] as const
