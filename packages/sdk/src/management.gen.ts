// Made by `npm run generate` from the OpenAPI document. Do not edit.
import { segment } from './address.ts'
import { everyFollowing, everyRecord } from './pages.ts'
import type { CallOptions, Transport } from './transport.ts'

/** One page of a list. */
export type Page<T> = { data: T[]; meta: PageMeta }

export type PageMeta = {
  pagination: {
    total: number
    count: number
    per_page: number
    current_page: number
    total_pages: number
    /** There are more than `total` says: counting ended there. */
    total_capped?: true
  }
  cursor?: {
    /** Goes straight to the next page, as `cursor`. */
    next?: string
    /** Where this page ends, for the next one. */
    updatedAt?: number
    /** Of what stands there, for the next page too. */
    id?: string
    affix?: 'append' | 'prepend'
  }
}

export type Acknowledged = {
  success: true
  message: string
}

export type Operator = {
  /** The number of the account. */
  id: string
  email: string
  name: string
  /** Whether signing in takes a one-time code. */
  totp: boolean
  /** When the account was made, in Unix seconds. */
  createdAt: number
}

export type Session = {
  operator: Operator
  session: {
    id: string
    /** Whether this request is part of it. */
    current: boolean
    /** Where it began. */
    address: string
    userAgent: string
    /** When it began, in Unix seconds. */
    createdAt: number
    /** When it was last used, to the minute. */
    seenAt: number
    /** When it ends at the latest; unused it ends after twelve hours. */
    expiresAt: number
  }
}

export type App = {
  /** The id of the app, part of its address. */
  id: string
  name: string
  /** `archived`: marked for removal; nothing answers until it is restored. */
  state: 'active' | 'archived'
  /** Where its data lives. */
  region: 'us' | 'eu' | 'in'
  version: '3'
  /** Where it is called. */
  baseUrl: string
  /** What the caller is in it. */
  role: 'owner' | 'admin' | 'moderator' | 'developer'
  /** The number of the account that owns it. */
  owner?: number
  appOwner?: {
    id: string
    name: string
    email: string
  }
  appRegion: {
    /** Where its data lives. */
    id: 'us' | 'eu' | 'in'
    name: string
    description: string
  }
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When all of it goes, of an archived app. */
  scheduledToDeleteAt?: number
}

export type CreateOperatorBody = {
  /** The address to sign in with. */
  email: string
  /** What others call you. */
  name: string
  /** At least 10 characters. */
  password: string
  /** The token of an invitation to an app. */
  invitation?: string | undefined
}

export type UpdateOperatorBody = {
  /** What others call you. */
  name?: string | undefined
  /** At least 10 characters. */
  password?: string | undefined
  /** The password until now, to change it. */
  currentPassword?: string | undefined
  /** With a new password: removes the keys of the account too. */
  endKeys?: boolean | undefined
}

export type AcceptInvitationAnswer = {
  appId: string
  role: string
}

export type AcceptInvitationBody = {
  /** The token. */
  invitation: string
}

export type CreateSessionBody = {
  /** The address of the account. */
  email: string
  /** Its password. */
  password: string
  /** The one-time code, of accounts that have them. */
  code?: string | undefined
  /** A recovery code, in place of the one-time code. */
  recoveryCode?: string | undefined
}

export type ListSessionsItem = {
  id: string
  /** Whether this request is part of it. */
  current: boolean
  /** Where it began. */
  address: string
  userAgent: string
  /** When it began, in Unix seconds. */
  createdAt: number
  /** When it was last used, to the minute. */
  seenAt: number
  /** When it ends at the latest; unused it ends after twelve hours. */
  expiresAt: number
}

export type ListSessionsQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type StartTotpAnswer = {
  /** In base 32, to type. */
  secret: string
  /** `otpauth://…`, to show as a picture. */
  url: string
}

export type StartTotpBody = {
  /** The password, once more. */
  password: string
}

export type DeleteTotpBody = {
  /** The password, once more. */
  password: string
}

export type ConfirmTotpAnswer = {
  /** Each works once, in place of a one-time code. Shown now and never again. */
  recoveryCodes: string[]
}

export type ConfirmTotpBody = {
  /** A code. */
  code: string
}

export type RenewTotpCodesAnswer = {
  /** Each works once, in place of a one-time code. Shown now and never again. */
  recoveryCodes: string[]
}

export type RenewTotpCodesBody = {
  /** The password, once more. */
  password: string
}

export type CreateKeyAnswer = {
  /** The value for the header `key`. */
  key: string
  name: string
  /** When it was made, in Unix seconds. */
  createdAt: number
  /** The value for the header `secret`. Shown now and never again. */
  secret: string
}

export type CreateKeyBody = {
  /** What it is for. */
  name: string
  /** The password, once more. */
  password: string
}

export type ListKeysItem = {
  /** The value for the header `key`. */
  key: string
  name: string
  /** When it was made, in Unix seconds. */
  createdAt: number
}

export type ListKeysQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type RotateKeyAnswer = {
  /** The value for the header `key`. */
  key: string
  name: string
  /** When it was made, in Unix seconds. */
  createdAt: number
  /** The value for the header `secret`. Shown now and never again. */
  secret: string
}

export type RotateKeyBody = {
  /** The password, once more. */
  password: string
}

export type CreateAppAnswer = {
  /** The id of the app, part of its address. */
  id: string
  name: string
  /** `archived`: marked for removal; nothing answers until it is restored. */
  state: 'active' | 'archived'
  /** Where its data lives. */
  region: 'us' | 'eu' | 'in'
  version: '3'
  /** Where it is called. */
  baseUrl: string
  /** What the caller is in it. */
  role: 'owner' | 'admin' | 'moderator' | 'developer'
  /** The number of the account that owns it. */
  owner?: number
  appOwner?: {
    id: string
    name: string
    email: string
  }
  appRegion: {
    /** Where its data lives. */
    id: 'us' | 'eu' | 'in'
    name: string
    description: string
  }
  /** When it was created, in Unix seconds. */
  createdAt: number
  /** When all of it goes, of an archived app. */
  scheduledToDeleteAt?: number
  /** The first two keys, by their value. */
  apiKeys: Record<
    string,
    {
      /** The value for the header `apikey`: 40 hexadecimal characters. */
      apiKey: string
      name: string
      /** `fullAccess` may do everything, `authOnly` handle auth tokens. */
      scope: 'authOnly' | 'fullAccess'
      /** When it was created, in Unix seconds. */
      createdAt: number
      createdBy: 'app_system'
    }
  >
}

export type CreateAppBody = {
  /** At most 100 characters; an emoji counts as two. */
  name: string
  /** Where its data lives; `us` unless given. */
  region?: 'us' | 'eu' | 'in' | undefined
  /** There is no other. */
  version?: '3' | undefined
}

export type ListAppsQuery = {
  /** An id, or text to look for in the name. */
  searchKey?: string | undefined
  /** `meta.cursor.next` of the page before. */
  cursor?: string | undefined
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type UpdateAppBody = {
  /** At most 100 characters; an emoji counts as two. */
  name: string
}

export type DeleteAppAnswer = {
  success: true
  /** When all of it goes, in Unix seconds. */
  scheduledToDeleteAt: number
}

export type ListCollaboratorsItem = {
  /** The number of the account, once there is one. */
  id?: string
  name?: string
  email: string
  role: 'owner' | 'admin' | 'moderator' | 'developer'
  state: 'active' | 'invited'
  /** When added or invited, in Unix seconds. */
  createdAt: number
}

export type ListCollaboratorsQuery = {
  /** Records per request. */
  perPage?: number | undefined
  /** Number of the page. */
  page?: number | undefined
}

export type ChangeCollaboratorsAnswer = {
  admins: Record<
    string,
    {
      success: boolean
      message?: string
      error?: {
        code:
          | 'ERR_ALREADY_AN_OWNER'
          | 'ERR_SELF_ACTION_DENIED'
          | 'ERR_NOT_A_COLLABORATOR'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_SIGN_UP_CLOSED'
        message: string
      }
      /** The token to hand to somebody without an account. Shown now and never again. */
      invitation?: string
    }
  >
  moderators: Record<
    string,
    {
      success: boolean
      message?: string
      error?: {
        code:
          | 'ERR_ALREADY_AN_OWNER'
          | 'ERR_SELF_ACTION_DENIED'
          | 'ERR_NOT_A_COLLABORATOR'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_SIGN_UP_CLOSED'
        message: string
      }
      /** The token to hand to somebody without an account. Shown now and never again. */
      invitation?: string
    }
  >
  developers: Record<
    string,
    {
      success: boolean
      message?: string
      error?: {
        code:
          | 'ERR_ALREADY_AN_OWNER'
          | 'ERR_SELF_ACTION_DENIED'
          | 'ERR_NOT_A_COLLABORATOR'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_SIGN_UP_CLOSED'
        message: string
      }
      /** The token to hand to somebody without an account. Shown now and never again. */
      invitation?: string
    }
  >
  collaboratorsToRemove: Record<
    string,
    {
      success: boolean
      message?: string
      error?: {
        code:
          | 'ERR_ALREADY_AN_OWNER'
          | 'ERR_SELF_ACTION_DENIED'
          | 'ERR_NOT_A_COLLABORATOR'
          | 'ERR_PLAN_QUOTA_RESTRICTION'
          | 'ERR_SIGN_UP_CLOSED'
        message: string
      }
      /** The token to hand to somebody without an account. Shown now and never again. */
      invitation?: string
    }
  >
}

export type ChangeCollaboratorsBody = {
  /** Those who become admins. */
  admins?: string[] | undefined
  /** Those who become moderators. */
  moderators?: string[] | undefined
  /** Those who become developers. */
  developers?: string[] | undefined
  /** Those who have no part in the app any more. */
  collaboratorsToRemove?: string[] | undefined
}

export type SetSettingsAnswer = Record<
  string,
  {
    success: boolean
    message?: string
    error?: {
      code: 'ERR_BAD_REQUEST'
      message: string
    }
  }
>

export type SetSettingsBody = {
  /** Values by name. */
  settings: Record<string, boolean | number | string>
}

export type ResetSettingsBody = {
  /** Names of settings that get their defaults back. */
  settings: string[]
}

export type ListAuditEntriesAnswer = {
  data: {
    id: string
    /** When, in Unix seconds. */
    at: number
    /** How the caller came; `command` and `service` have no account. */
    via: 'session' | 'key' | 'command' | 'service'
    operator?: {
      id: string
      email: string
    }
    appId?: string
    /** The operationId. */
    action: string
    /** What it was done to, by the names of the parameters. */
    target: Record<string, unknown>
    /** What was there, where that is known. */
    before?: unknown
    /** What was set, or asked for. Secrets are left out. */
    after?: unknown
    /** Of operations on the data of an app: how they were answered. */
    status?: number
    /** From where. */
    address?: string
    userAgent?: string
  }[]
  meta: {
    /** `before` of the next page; none: this is the last one. */
    next?: number
  }
}

export type ListAuditEntriesQuery = {
  /** Records per request. */
  limit?: number | undefined
  /** Only entries before this one: `meta.next`. */
  before?: number | undefined
  /** Only this operation. */
  action?: string | undefined
  /** Only from this second on. */
  from?: number | undefined
  /** Only before this second. */
  to?: number | undefined
}

export type ListAuditEntriesItem = {
  id: string
  /** When, in Unix seconds. */
  at: number
  /** How the caller came; `command` and `service` have no account. */
  via: 'session' | 'key' | 'command' | 'service'
  operator?: {
    id: string
    email: string
  }
  appId?: string
  /** The operationId. */
  action: string
  /** What it was done to, by the names of the parameters. */
  target: Record<string, unknown>
  /** What was there, where that is known. */
  before?: unknown
  /** What was set, or asked for. Secrets are left out. */
  after?: unknown
  /** Of operations on the data of an app: how they were answered. */
  status?: number
  /** From where. */
  address?: string
  userAgent?: string
}

export type ListAppAuditEntriesAnswer = {
  data: {
    id: string
    /** When, in Unix seconds. */
    at: number
    /** How the caller came; `command` and `service` have no account. */
    via: 'session' | 'key' | 'command' | 'service'
    operator?: {
      id: string
      email: string
    }
    appId?: string
    /** The operationId. */
    action: string
    /** What it was done to, by the names of the parameters. */
    target: Record<string, unknown>
    /** What was there, where that is known. */
    before?: unknown
    /** What was set, or asked for. Secrets are left out. */
    after?: unknown
    /** Of operations on the data of an app: how they were answered. */
    status?: number
    /** From where. */
    address?: string
    userAgent?: string
  }[]
  meta: {
    /** `before` of the next page; none: this is the last one. */
    next?: number
  }
}

export type ListAppAuditEntriesQuery = {
  /** Records per request. */
  limit?: number | undefined
  /** Only entries before this one: `meta.next`. */
  before?: number | undefined
  /** Only this operation. */
  action?: string | undefined
  /** Only from this second on. */
  from?: number | undefined
  /** Only before this second. */
  to?: number | undefined
  /** Only of this account. */
  operator?: number | undefined
}

export type ListAppAuditEntriesItem = {
  id: string
  /** When, in Unix seconds. */
  at: number
  /** How the caller came; `command` and `service` have no account. */
  via: 'session' | 'key' | 'command' | 'service'
  operator?: {
    id: string
    email: string
  }
  appId?: string
  /** The operationId. */
  action: string
  /** What it was done to, by the names of the parameters. */
  target: Record<string, unknown>
  /** What was there, where that is known. */
  before?: unknown
  /** What was set, or asked for. Secrets are left out. */
  after?: unknown
  /** Of operations on the data of an app: how they were answered. */
  status?: number
  /** From where. */
  address?: string
  userAgent?: string
}

/** `client.operators` */
export class OperatorsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Sign up. */
  async create(body: CreateOperatorBody, options?: CallOptions): Promise<Operator> {
    return this.#transport.data({ method: 'POST', path: '/operators', body }, options)
  }

  /** Get the own account. */
  async get(options?: CallOptions): Promise<Operator> {
    return this.#transport.data({ method: 'GET', path: '/operator' }, options)
  }

  /** Change the own name or password; a new password ends all other sessions. */
  async update(body: UpdateOperatorBody, options?: CallOptions): Promise<Operator> {
    return this.#transport.data({ method: 'PUT', path: '/operator', body }, options)
  }
}

/** `client.invitations` */
export class InvitationsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Join the app that one was invited to. */
  async accept(body: AcceptInvitationBody, options?: CallOptions): Promise<AcceptInvitationAnswer> {
    return this.#transport.data({ method: 'POST', path: '/invitations/accept', body }, options)
  }
}

/** `client.sessions` */
export class SessionsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Sign in: the answer sets the cookie of a new session. */
  async create(body: CreateSessionBody, options?: CallOptions): Promise<Session> {
    return this.#transport.data({ method: 'POST', path: '/sessions', body }, options)
  }

  /** List the sessions of the own account: one page. */
  async list(query?: ListSessionsQuery, options?: CallOptions): Promise<Page<ListSessionsItem>> {
    return this.#transport.answer({ method: 'GET', path: '/sessions', query }, options)
  }

  /** List the sessions of the own account: every record, read page by page. */
  all(
    query?: Omit<ListSessionsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListSessionsItem, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** End all other sessions of the own account. */
  async endOther(options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: '/sessions' }, options)
  }

  /** Get the own session and account. */
  async get(options?: CallOptions): Promise<Session> {
    return this.#transport.data({ method: 'GET', path: '/session' }, options)
  }

  /** Sign out. */
  async end(options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: '/session' }, options)
  }

  /** End a session of the own account. */
  async delete(sessionId: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/sessions/${segment(sessionId)}` },
      options,
    )
  }
}

/** `client.totp` */
export class TotpMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Begin to use one-time codes: nothing changes before a code confirms it. */
  async start(body: StartTotpBody, options?: CallOptions): Promise<StartTotpAnswer> {
    return this.#transport.data({ method: 'POST', path: '/totp', body }, options)
  }

  /** Switch one-time codes off. */
  async delete(body: DeleteTotpBody, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: '/totp', body }, options)
  }

  /** Switch one-time codes on; all other sessions end. */
  async confirm(body: ConfirmTotpBody, options?: CallOptions): Promise<ConfirmTotpAnswer> {
    return this.#transport.data({ method: 'POST', path: '/totp/confirm', body }, options)
  }

  /** Get new recovery codes; those before work no more. */
  async renewCodes(body: RenewTotpCodesBody, options?: CallOptions): Promise<RenewTotpCodesAnswer> {
    return this.#transport.data({ method: 'POST', path: '/totp/recovery_codes', body }, options)
  }
}

/** `client.keys` */
export class KeysMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Make a pair of key and secret, for programs that manage. */
  async create(body: CreateKeyBody, options?: CallOptions): Promise<CreateKeyAnswer> {
    return this.#transport.data({ method: 'POST', path: '/keys', body }, options)
  }

  /** List the keys of the own account: one page. */
  async list(query?: ListKeysQuery, options?: CallOptions): Promise<Page<ListKeysItem>> {
    return this.#transport.answer({ method: 'GET', path: '/keys', query }, options)
  }

  /** List the keys of the own account: every record, read page by page. */
  all(
    query?: Omit<ListKeysQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListKeysItem, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Give a key a new secret; the one before it works no more. */
  async rotate(key: string, body: RotateKeyBody, options?: CallOptions): Promise<RotateKeyAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/keys/${segment(key)}/secret`, body },
      options,
    )
  }

  /** Remove a key. */
  async delete(key: string, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: `/keys/${segment(key)}` }, options)
  }
}

/** `client.apps` */
export class AppsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Create an app, with two API keys. */
  async create(body: CreateAppBody, options?: CallOptions): Promise<CreateAppAnswer> {
    return this.#transport.data({ method: 'POST', path: '/apps', body }, options)
  }

  /** List the apps that the operator has to do with, newest first: one page. */
  async list(query?: ListAppsQuery, options?: CallOptions): Promise<Page<App>> {
    return this.#transport.answer({ method: 'GET', path: '/apps', query }, options)
  }

  /** List the apps that the operator has to do with, newest first: every record, read page by page. */
  all(
    query?: Omit<ListAppsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<App, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Get an app. */
  async get(appId: string, options?: CallOptions): Promise<App> {
    return this.#transport.data({ method: 'GET', path: `/apps/${segment(appId)}` }, options)
  }

  /** Rename an app. */
  async update(appId: string, body: UpdateAppBody, options?: CallOptions): Promise<App> {
    return this.#transport.data({ method: 'PUT', path: `/apps/${segment(appId)}`, body }, options)
  }

  /** Take an app out of service; all of it goes after 30 days. */
  async delete(appId: string, options?: CallOptions): Promise<DeleteAppAnswer> {
    return this.#transport.data({ method: 'DELETE', path: `/apps/${segment(appId)}` }, options)
  }

  /** Put an app back into service. */
  async restore(appId: string, options?: CallOptions): Promise<App> {
    return this.#transport.data(
      { method: 'POST', path: `/apps/${segment(appId)}/restore` },
      options,
    )
  }
}

/** `client.collaborators` */
export class CollaboratorsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** List who manages an app, and who was invited to: one page. */
  async list(
    appId: string,
    query?: ListCollaboratorsQuery,
    options?: CallOptions,
  ): Promise<Page<ListCollaboratorsItem>> {
    return this.#transport.answer(
      { method: 'GET', path: `/apps/${segment(appId)}/collaborators`, query },
      options,
    )
  }

  /** List who manages an app, and who was invited to: every record, read page by page. */
  all(
    appId: string,
    query?: Omit<ListCollaboratorsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListCollaboratorsItem, void, undefined> {
    return everyRecord((place) => this.list(appId, { ...query, ...place }, options))
  }

  /** Add, change and remove those who manage an app. */
  async change(
    appId: string,
    body: ChangeCollaboratorsBody,
    options?: CallOptions,
  ): Promise<ChangeCollaboratorsAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/apps/${segment(appId)}/collaborators`, body },
      options,
    )
  }
}

/** `client.settings` */
export class SettingsMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Get the settings of an app, as they are in force. */
  async get(
    appId: string,
    options?: CallOptions,
  ): Promise<Record<string, boolean | number | string>> {
    return this.#transport.data(
      { method: 'GET', path: `/apps/${segment(appId)}/settings` },
      options,
    )
  }

  /** Set settings of an app; each says what came of it. */
  async set(
    appId: string,
    body: SetSettingsBody,
    options?: CallOptions,
  ): Promise<SetSettingsAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/apps/${segment(appId)}/settings`, body },
      options,
    )
  }

  /** Put settings of an app back to their defaults. */
  async reset(
    appId: string,
    body: ResetSettingsBody,
    options?: CallOptions,
  ): Promise<Acknowledged> {
    return this.#transport.data(
      { method: 'DELETE', path: `/apps/${segment(appId)}/settings`, body },
      options,
    )
  }
}

/** `client.auditEntries` */
export class AuditEntriesMethods {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** List what the own account did, newest first. */
  async list(
    query?: ListAuditEntriesQuery,
    options?: CallOptions,
  ): Promise<ListAuditEntriesAnswer> {
    return this.#transport.answer({ method: 'GET', path: '/audit', query }, options)
  }

  /** List what the own account did, newest first: every record, read page by page. */
  all(
    query?: ListAuditEntriesQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListAuditEntriesItem, void, undefined> {
    return everyFollowing((place) => this.list({ ...query, ...place }, options), 'before')
  }

  /** List what was done to an app and its data, newest first. */
  async listApp(
    appId: string,
    query?: ListAppAuditEntriesQuery,
    options?: CallOptions,
  ): Promise<ListAppAuditEntriesAnswer> {
    return this.#transport.answer(
      { method: 'GET', path: `/apps/${segment(appId)}/audit`, query },
      options,
    )
  }

  /** List what was done to an app and its data, newest first: every record, read page by page. */
  allApp(
    appId: string,
    query?: ListAppAuditEntriesQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListAppAuditEntriesItem, void, undefined> {
    return everyFollowing((place) => this.listApp(appId, { ...query, ...place }, options), 'before')
  }
}

/** Every operation, by area. */
export class ManagementOperations {
  readonly operators: OperatorsMethods
  readonly invitations: InvitationsMethods
  readonly sessions: SessionsMethods
  readonly totp: TotpMethods
  readonly keys: KeysMethods
  readonly apps: AppsMethods
  readonly collaborators: CollaboratorsMethods
  readonly settings: SettingsMethods
  readonly auditEntries: AuditEntriesMethods

  constructor(transport: Transport) {
    this.operators = new OperatorsMethods(transport)
    this.invitations = new InvitationsMethods(transport)
    this.sessions = new SessionsMethods(transport)
    this.totp = new TotpMethods(transport)
    this.keys = new KeysMethods(transport)
    this.apps = new AppsMethods(transport)
    this.collaborators = new CollaboratorsMethods(transport)
    this.settings = new SettingsMethods(transport)
    this.auditEntries = new AuditEntriesMethods(transport)
  }
}
