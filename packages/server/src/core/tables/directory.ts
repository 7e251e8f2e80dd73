import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { ADD, ADD_CHANGE, ADD_REMOVE, ALL, CHANGE, READ, type Table } from './table.ts'

/** Users of apps are erased, operators aren't. */
const OPERATORS = 'Names operators, who are not users of an app.'

/** The tables of the directory. An app that moves keeps its rows here; only its `cell_id` changes. */
// biome-ignore format: one line per table
export const directoryTables = {
  // Where apps are. Only the owner adds and changes cells and media servers: their addresses say where data is sent.
  regions: { moves: 'stays', service: READ, audit: '*', plain: 'region' },
  cells: { moves: 'stays', service: READ, audit: 'cell_id region accepts_apps synchronous created_at', sealed: { url_sealed: 'cells.url' }, plain: 'cell_id region accepts_apps synchronous created_at' },
  log_witnesses: { moves: 'stays', service: ADD_CHANGE, audit: '*', plain: 'cell_id system_id timeline wal_position taken break_no seen_at' },
  break_counter: { moves: 'stays', service: CHANGE, audit: '*', plain: 'break_no' },
  media_servers: { moves: 'stays', service: READ, audit: '*', plain: 'address drained created_at region' },
  apps: { moves: 'stays', exported: 'settings', service: ALL, audit: '*', plain: 'app_no app_id name cell_id state created_at archived_at purge_at' },

  // Operators.
  operators: { moves: 'stays', service: ADD_CHANGE, audit: 'operator_no email name created_at disabled_at', erased: { kept: OPERATORS }, people: 'operator_no email', personal: 'name', sealed: { totp_sealed: 'operators.totp', totp_pending_sealed: 'operators.totp' }, hashed: 'password_hash', plain: 'totp_step created_at disabled_at' },
  recovery_codes: { moves: 'stays', service: ADD_REMOVE, erased: { kept: OPERATORS }, people: 'operator_no', hashed: 'code_hash' },
  operator_sessions: { moves: 'stays', service: ALL, audit: 'session_id operator_no address user_agent created_at seen_at expires_at failures', erased: { kept: OPERATORS }, people: 'operator_no', personal: 'address user_agent seen_at', hashed: 'token_hash', plain: 'session_id created_at expires_at failures' },
  operator_keys: { moves: 'stays', service: ALL, audit: 'key operator_no name created_at', erased: { kept: OPERATORS }, people: 'operator_no', hashed: 'secret_hash', plain: 'key name created_at' },
  attempts: { moves: 'stays', service: ALL, erased: { kept: OPERATORS }, people: 'subject', plain: 'count since' },
  idempotency: { moves: 'stays', service: ALL, erased: { kept: OPERATORS }, people: 'operator_no', sealed: { answer_sealed: 'operator idempotency.answer' }, hashed: 'request_hash', plain: 'key created_at' },
  collaborators: { moves: 'stays', service: ALL, audit: '*', erased: { kept: OPERATORS }, people: 'operator_no', plain: 'app_no role created_at' },
  invitations: { moves: 'stays', service: ALL, audit: 'app_no email role created_at expires_at', erased: { kept: OPERATORS }, people: 'email', hashed: 'token_hash', plain: 'app_no role created_at expires_at' },

  // The audit log. Entries are only ever added.
  audit: { moves: 'stays', service: ADD, audit: '*', erased: 'changed', people: 'operator_no email', personal: 'target before after address user_agent', plain: 'id at via app_no app_id action' },
  audit_outcomes: { moves: 'stays', service: ADD, audit: '*', plain: 'id status' },

  // The ledger of erasures. Nobody deletes from it, so it shows what was asked for.
  erasures: { moves: 'stays', service: ADD_CHANGE, audit: 'app_no id mode state created_at completed_at runs receipt', sealed: { uid_sealed: 'erasures.uid' }, hashed: 'uid_hash', plain: 'app_no id mode state created_at completed_at runs receipt' },
} as const satisfies Record<keyof DirectoryRows, Table>
