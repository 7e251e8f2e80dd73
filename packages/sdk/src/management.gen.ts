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
    /** Present if counting stopped at `total`: there are more records. */
    total_capped?: true
  }
  cursor?: {
    /** Pass this as `cursor` to get the next page. */
    next?: string
    /** Time of the last record of this page, in Unix seconds. Pass it with `affix` to get the next page. */
    updatedAt?: number
    /** Id of the last record of this page. Pass it with `updatedAt` to get the next page. */
    id?: string
    affix?: 'append' | 'prepend'
  }
}

export type Acknowledged = {
  success: true
  message: string
}

export type Operator = {
  /** Number of the account. */
  id: string
  email: string
  name: string
  /** Whether signing in requires a one-time code. */
  totp: boolean
  /** Time when the account was created, in Unix seconds. */
  createdAt: number
}

export type Session = {
  operator: Operator
  session: {
    id: string
    /** Whether this is the session of the request. */
    current: boolean
    /** Network address at sign-in. */
    address: string
    userAgent: string
    /** Time of the sign-in, in Unix seconds. */
    createdAt: number
    /** Time of the last use, in Unix seconds, accurate to the minute. */
    seenAt: number
    /** Latest end of the session, in Unix seconds. A session that is not used for twelve hours ends earlier. */
    expiresAt: number
  }
}

export type App = {
  /** Id of the app, part of its host name. */
  id: string
  name: string
  /** `archived`: scheduled for deletion. The app's API doesn't answer until you restore it. */
  state: 'active' | 'archived'
  /** Region that stores the app's data. */
  region: 'us' | 'eu' | 'in'
  version: '3'
  /** Base URL of the app's API. */
  baseUrl: string
  /** Your role in the app. */
  role: 'owner' | 'admin' | 'moderator' | 'developer'
  /** Number of the owner's account. */
  owner?: number
  appOwner?: {
    id: string
    name: string
    email: string
  }
  appRegion: {
    /** Region that stores the app's data. */
    id: 'us' | 'eu' | 'in'
    name: string
    description: string
  }
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Time when an archived app is deleted for good, in Unix seconds. */
  scheduledToDeleteAt?: number
}

export type CreateOperatorBody = {
  /** Email address to sign in with. */
  email: string
  /** Your name as others see it. */
  name: string
  /** At least 10 characters. */
  password: string
  /** Token of an invitation to an app. */
  invitation?: string | undefined
}

export type UpdateOperatorBody = {
  /** Your name as others see it. */
  name?: string | undefined
  /** At least 10 characters. */
  password?: string | undefined
  /** Your current password. Required to change it. */
  currentPassword?: string | undefined
  /** With a new password: whether to delete your keys too. */
  endKeys?: boolean | undefined
}

export type AcceptInvitationAnswer = {
  appId: string
  role: string
}

export type AcceptInvitationBody = {
  /** Token of the invitation. */
  invitation: string
}

export type CreateSessionBody = {
  /** Email address of the account. */
  email: string
  /** Password of the account. */
  password: string
  /** One-time code, for accounts that require one. */
  code?: string | undefined
  /** Recovery code, instead of a one-time code. */
  recoveryCode?: string | undefined
}

export type ListSessionsItem = {
  id: string
  /** Whether this is the session of the request. */
  current: boolean
  /** Network address at sign-in. */
  address: string
  userAgent: string
  /** Time of the sign-in, in Unix seconds. */
  createdAt: number
  /** Time of the last use, in Unix seconds, accurate to the minute. */
  seenAt: number
  /** Latest end of the session, in Unix seconds. A session that is not used for twelve hours ends earlier. */
  expiresAt: number
}

export type ListSessionsQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type StartTotpAnswer = {
  /** The secret in base 32, to type into an authenticator. */
  secret: string
  /** `otpauth://…` URL, to show as a QR code. */
  url: string
}

export type StartTotpBody = {
  /** Your current password. */
  password: string
}

export type DeleteTotpBody = {
  /** Your current password. */
  password: string
}

export type ConfirmTotpAnswer = {
  /** Each code works once, instead of a one-time code. They are shown only now. */
  recoveryCodes: string[]
}

export type ConfirmTotpBody = {
  /** One-time code. */
  code: string
}

export type RenewTotpCodesAnswer = {
  /** Each code works once, instead of a one-time code. They are shown only now. */
  recoveryCodes: string[]
}

export type RenewTotpCodesBody = {
  /** Your current password. */
  password: string
}

export type CreateKeyAnswer = {
  /** Send it in the header `key`. */
  key: string
  name: string
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Send it in the header `secret`. It is shown only once. */
  secret: string
}

export type CreateKeyBody = {
  /** What the key is for. */
  name: string
  /** Your current password. */
  password: string
}

export type ListKeysItem = {
  /** Send it in the header `key`. */
  key: string
  name: string
  /** Time of creation, in Unix seconds. */
  createdAt: number
}

export type ListKeysQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type RotateKeyAnswer = {
  /** Send it in the header `key`. */
  key: string
  name: string
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Send it in the header `secret`. It is shown only once. */
  secret: string
}

export type RotateKeyBody = {
  /** Your current password. */
  password: string
}

export type CreateAppAnswer = {
  /** Id of the app, part of its host name. */
  id: string
  name: string
  /** `archived`: scheduled for deletion. The app's API doesn't answer until you restore it. */
  state: 'active' | 'archived'
  /** Region that stores the app's data. */
  region: 'us' | 'eu' | 'in'
  version: '3'
  /** Base URL of the app's API. */
  baseUrl: string
  /** Your role in the app. */
  role: 'owner' | 'admin' | 'moderator' | 'developer'
  /** Number of the owner's account. */
  owner?: number
  appOwner?: {
    id: string
    name: string
    email: string
  }
  appRegion: {
    /** Region that stores the app's data. */
    id: 'us' | 'eu' | 'in'
    name: string
    description: string
  }
  /** Time of creation, in Unix seconds. */
  createdAt: number
  /** Time when an archived app is deleted for good, in Unix seconds. */
  scheduledToDeleteAt?: number
  /** The app's first two API keys, by value. */
  apiKeys: Record<
    string,
    {
      /** The API key: 40 hexadecimal characters. Send it in the header `apikey`. */
      apiKey: string
      name: string
      /** `fullAccess` allows every operation, `authOnly` only those on auth tokens. */
      scope: 'authOnly' | 'fullAccess'
      /** Time of creation, in Unix seconds. */
      createdAt: number
      createdBy: 'app_system'
    }
  >
}

export type CreateAppBody = {
  /** At most 100 characters; an emoji counts as two. */
  name: string
  /** Region that stores the app's data. Default: `us`. */
  region?: 'us' | 'eu' | 'in' | undefined
  /** The API version. `v3` is the only one. */
  version?: '3' | undefined
}

export type ListAppsQuery = {
  /** Only apps with this id, or with this text in their name. */
  searchKey?: string | undefined
  /** `meta.cursor.next` of the previous page. */
  cursor?: string | undefined
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
  page?: number | undefined
}

export type UpdateAppBody = {
  /** At most 100 characters; an emoji counts as two. */
  name: string
}

export type DeleteAppAnswer = {
  success: true
  /** Time when the app is deleted for good, in Unix seconds. */
  scheduledToDeleteAt: number
}

export type ListCollaboratorsItem = {
  /** Number of the operator's account; missing while the invitation is open. */
  id?: string
  name?: string
  email: string
  role: 'owner' | 'admin' | 'moderator' | 'developer'
  state: 'active' | 'invited'
  /** Time when they were added or invited, in Unix seconds. */
  createdAt: number
}

export type ListCollaboratorsQuery = {
  /** Maximum number of records per page. */
  perPage?: number | undefined
  /** Page number, starting at 1. */
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
      /** Invitation token for a person without an account. It is shown only once; hand it over yourself. */
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
      /** Invitation token for a person without an account. It is shown only once; hand it over yourself. */
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
      /** Invitation token for a person without an account. It is shown only once; hand it over yourself. */
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
      /** Invitation token for a person without an account. It is shown only once; hand it over yourself. */
      invitation?: string
    }
  >
}

export type ChangeCollaboratorsBody = {
  /** People to make admins. */
  admins?: string[] | undefined
  /** People to make moderators. */
  moderators?: string[] | undefined
  /** People to make developers. */
  developers?: string[] | undefined
  /** People to remove from the app. */
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
  /** New values by setting name. */
  settings: Record<string, boolean | number | string>
}

export type ResetSettingsBody = {
  /** Names of the settings to reset. */
  settings: string[]
}

export type ListAuditEntriesAnswer = {
  data: {
    id: string
    /** Time of the entry, in Unix seconds. */
    at: number
    /** How the operation was started. `command` and `service` have no account. */
    via: 'session' | 'key' | 'command' | 'service'
    operator?: {
      id: string
      email: string
    }
    appId?: string
    /** Name of the operation (its operationId). */
    action: string
    /** The resources concerned: values by parameter name. */
    target: Record<string, unknown>
    /** Values before the change, if known. */
    before?: unknown
    /** Values that were set or requested, without secrets. */
    after?: unknown
    /** For operations on an app's data: the status of the response. */
    status?: number
    /** Network address of the caller. */
    address?: string
    userAgent?: string
  }[]
  meta: {
    /** Pass this as `before` to get the next page. Missing on the last page. */
    next?: number
  }
}

export type ListAuditEntriesQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Only entries before this one. Pass `meta.next` of the previous page. */
  before?: number | undefined
  /** Only entries of this operation. */
  action?: string | undefined
  /** Only entries at or after this time, in Unix seconds. */
  from?: number | undefined
  /** Only entries before this time, in Unix seconds. */
  to?: number | undefined
}

export type ListAuditEntriesItem = {
  id: string
  /** Time of the entry, in Unix seconds. */
  at: number
  /** How the operation was started. `command` and `service` have no account. */
  via: 'session' | 'key' | 'command' | 'service'
  operator?: {
    id: string
    email: string
  }
  appId?: string
  /** Name of the operation (its operationId). */
  action: string
  /** The resources concerned: values by parameter name. */
  target: Record<string, unknown>
  /** Values before the change, if known. */
  before?: unknown
  /** Values that were set or requested, without secrets. */
  after?: unknown
  /** For operations on an app's data: the status of the response. */
  status?: number
  /** Network address of the caller. */
  address?: string
  userAgent?: string
}

export type ListAppAuditEntriesAnswer = {
  data: {
    id: string
    /** Time of the entry, in Unix seconds. */
    at: number
    /** How the operation was started. `command` and `service` have no account. */
    via: 'session' | 'key' | 'command' | 'service'
    operator?: {
      id: string
      email: string
    }
    appId?: string
    /** Name of the operation (its operationId). */
    action: string
    /** The resources concerned: values by parameter name. */
    target: Record<string, unknown>
    /** Values before the change, if known. */
    before?: unknown
    /** Values that were set or requested, without secrets. */
    after?: unknown
    /** For operations on an app's data: the status of the response. */
    status?: number
    /** Network address of the caller. */
    address?: string
    userAgent?: string
  }[]
  meta: {
    /** Pass this as `before` to get the next page. Missing on the last page. */
    next?: number
  }
}

export type ListAppAuditEntriesQuery = {
  /** Maximum number of records per page. */
  limit?: number | undefined
  /** Only entries before this one. Pass `meta.next` of the previous page. */
  before?: number | undefined
  /** Only entries of this operation. */
  action?: string | undefined
  /** Only entries at or after this time, in Unix seconds. */
  from?: number | undefined
  /** Only entries before this time, in Unix seconds. */
  to?: number | undefined
  /** Only entries of this account. */
  operator?: number | undefined
}

export type ListAppAuditEntriesItem = {
  id: string
  /** Time of the entry, in Unix seconds. */
  at: number
  /** How the operation was started. `command` and `service` have no account. */
  via: 'session' | 'key' | 'command' | 'service'
  operator?: {
    id: string
    email: string
  }
  appId?: string
  /** Name of the operation (its operationId). */
  action: string
  /** The resources concerned: values by parameter name. */
  target: Record<string, unknown>
  /** Values before the change, if known. */
  before?: unknown
  /** Values that were set or requested, without secrets. */
  after?: unknown
  /** For operations on an app's data: the status of the response. */
  status?: number
  /** Network address of the caller. */
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

  /** Get your account. */
  async get(options?: CallOptions): Promise<Operator> {
    return this.#transport.data({ method: 'GET', path: '/operator' }, options)
  }

  /** Update your account. */
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

  /** Accept an invitation to an app. */
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

  /** Sign in. */
  async create(body: CreateSessionBody, options?: CallOptions): Promise<Session> {
    return this.#transport.data({ method: 'POST', path: '/sessions', body }, options)
  }

  /** List your sessions: one page. */
  async list(query?: ListSessionsQuery, options?: CallOptions): Promise<Page<ListSessionsItem>> {
    return this.#transport.answer({ method: 'GET', path: '/sessions', query }, options)
  }

  /** List your sessions: every record, read page by page. */
  all(
    query?: Omit<ListSessionsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListSessionsItem, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** End all your other sessions. */
  async endOther(options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: '/sessions' }, options)
  }

  /** Get your session and account. */
  async get(options?: CallOptions): Promise<Session> {
    return this.#transport.data({ method: 'GET', path: '/session' }, options)
  }

  /** Sign out. */
  async end(options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: '/session' }, options)
  }

  /** End one of your sessions. */
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

  /** Set up one-time codes. */
  async start(body: StartTotpBody, options?: CallOptions): Promise<StartTotpAnswer> {
    return this.#transport.data({ method: 'POST', path: '/totp', body }, options)
  }

  /** Turn one-time codes off. */
  async delete(body: DeleteTotpBody, options?: CallOptions): Promise<Acknowledged> {
    return this.#transport.data({ method: 'DELETE', path: '/totp', body }, options)
  }

  /** Turn one-time codes on. */
  async confirm(body: ConfirmTotpBody, options?: CallOptions): Promise<ConfirmTotpAnswer> {
    return this.#transport.data({ method: 'POST', path: '/totp/confirm', body }, options)
  }

  /** Replace the recovery codes. */
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

  /** Create a key and secret for scripts. */
  async create(body: CreateKeyBody, options?: CallOptions): Promise<CreateKeyAnswer> {
    return this.#transport.data({ method: 'POST', path: '/keys', body }, options)
  }

  /** List your keys: one page. */
  async list(query?: ListKeysQuery, options?: CallOptions): Promise<Page<ListKeysItem>> {
    return this.#transport.answer({ method: 'GET', path: '/keys', query }, options)
  }

  /** List your keys: every record, read page by page. */
  all(
    query?: Omit<ListKeysQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListKeysItem, void, undefined> {
    return everyRecord((place) => this.list({ ...query, ...place }, options))
  }

  /** Replace the secret of a key. */
  async rotate(key: string, body: RotateKeyBody, options?: CallOptions): Promise<RotateKeyAnswer> {
    return this.#transport.data(
      { method: 'POST', path: `/keys/${segment(key)}/secret`, body },
      options,
    )
  }

  /** Delete a key. */
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

  /** Create an app. */
  async create(body: CreateAppBody, options?: CallOptions): Promise<CreateAppAnswer> {
    return this.#transport.data({ method: 'POST', path: '/apps', body }, options)
  }

  /** List your apps, newest first: one page. */
  async list(query?: ListAppsQuery, options?: CallOptions): Promise<Page<App>> {
    return this.#transport.answer({ method: 'GET', path: '/apps', query }, options)
  }

  /** List your apps, newest first: every record, read page by page. */
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

  /** Delete an app. */
  async delete(appId: string, options?: CallOptions): Promise<DeleteAppAnswer> {
    return this.#transport.data({ method: 'DELETE', path: `/apps/${segment(appId)}` }, options)
  }

  /** Restore a deleted app. */
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

  /** List an app's collaborators and invitations: one page. */
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

  /** List an app's collaborators and invitations: every record, read page by page. */
  all(
    appId: string,
    query?: Omit<ListCollaboratorsQuery, 'page' | 'cursor'>,
    options?: CallOptions,
  ): AsyncGenerator<ListCollaboratorsItem, void, undefined> {
    return everyRecord((place) => this.list(appId, { ...query, ...place }, options))
  }

  /** Add, change or remove collaborators of an app. */
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

  /** Get an app's settings. */
  async get(
    appId: string,
    options?: CallOptions,
  ): Promise<Record<string, boolean | number | string>> {
    return this.#transport.data(
      { method: 'GET', path: `/apps/${segment(appId)}/settings` },
      options,
    )
  }

  /** Update settings of an app. */
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

  /** Reset settings of an app to their defaults. */
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

  /** List your account's audit entries, newest first. */
  async list(
    query?: ListAuditEntriesQuery,
    options?: CallOptions,
  ): Promise<ListAuditEntriesAnswer> {
    return this.#transport.answer({ method: 'GET', path: '/audit', query }, options)
  }

  /** List your account's audit entries, newest first: every record, read page by page. */
  all(
    query?: ListAuditEntriesQuery,
    options?: CallOptions,
  ): AsyncGenerator<ListAuditEntriesItem, void, undefined> {
    return everyFollowing((place) => this.list({ ...query, ...place }, options), 'before')
  }

  /** List an app's audit entries, newest first. */
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

  /** List an app's audit entries, newest first: every record, read page by page. */
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
