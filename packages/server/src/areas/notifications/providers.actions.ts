import type { TSchema } from 'typebox'
import type { Actor } from '../../core/actor.ts'
import { overlay } from '../../core/notifications/tree.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { badRequest, type Details, fail } from '../../platform/http/fail.ts'
import { isOtherHost } from '../../platform/net/targets.ts'
import { privateKeyOf } from '../../platform/push/jwt.ts'
import { newVapidKey, vapidPublicKeyOf } from '../../platform/push/vapid.ts'
import {
  clearDefault,
  findDefault,
  findProvider,
  listProviders,
  makeDefault,
  type ProviderRow,
  removeProvider,
  startNotifier,
  storeProvider,
} from './providers.queries.ts'
import { NewFcmProvider, NewWebPushProvider, type WebPushKey } from './providers.schema.ts'
import { masked } from './secrets.ts'
import { lockNotifications } from './settings.queries.ts'

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'notification_providers.secret': [appNo: number, channel: string, kind: string, id: string]
  }
}

const PROVIDERS_PER_KIND = 25

export type Fields = Record<string, unknown>

/** A kind of provider: where it sends, which of its fields is secret, and what must be true of its fields. */
export interface ProviderKind {
  channel: 'push' | 'email' | 'sms'
  kind: 'fcm' | 'apns' | 'web_push' | 'custom' | 'sendgrid' | 'smtp' | 'twilio'
  /** The object that has the secret field, if it isn't the body itself. */
  inside?: string
  secret: string
  /** The field that says where the secret is sent, if the app chooses that. */
  target?: string
  /** A second secret field. It is sent nowhere. */
  otherSecret?: string
  /** Says which fields are stored: files of service accounts have more. */
  schema?: TSchema
  /** The secret of a provider that is added without one. It never changes. */
  newSecret?(): string
  /** Fields that follow from the secret. */
  derived?(secret: string): Fields
  faults(fields: Fields): Details
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')

const customFaults: ProviderKind['faults'] = (fields) => {
  const missing = fields.useBasicAuth
    ? ['basicAuthUsername', 'basicAuthPassword'].filter((name) => !fields[name])
    : []
  return Object.fromEntries(
    missing.map((name) => [name, [`${name} is required with useBasicAuth`]]),
  )
}
const custom = (channel: ProviderKind['channel']): ProviderKind => ({
  ...{ channel, kind: 'custom', secret: 'basicAuthPassword', target: 'webhookURL' },
  faults: customFaults,
})

const replyFaults: ProviderKind['faults'] = ({ allowEmailReplies, senderEmailForReplies }) =>
  allowEmailReplies && !senderEmailForReplies
    ? { senderEmailForReplies: ['senderEmailForReplies is required with allowEmailReplies'] }
    : {}

const smtpFaults: ProviderKind['faults'] = (fields) => {
  const faults: Details = { ...replyFaults(fields) }
  if (fields.smtpUsername && !fields.smtpPassword)
    faults.smtpPassword = ['smtpPassword is required with smtpUsername']
  const dkim = ['dkimDomain', 'dkimSelector', 'dkimPrivateKey']
  const missing = dkim.filter((name) => !fields[name])
  if (missing.length < dkim.length)
    for (const name of missing) faults[name] = [`${name} is required to sign with DKIM`]
  if (fields.dkimPrivateKey && !privateKeyOf(text(fields.dkimPrivateKey), 'RSA'))
    faults.dkimPrivateKey = ['dkimPrivateKey must be an RSA key as PEM']
  return faults
}

export const kinds = {
  fcm: {
    ...{ channel: 'push', kind: 'fcm', inside: 'serviceAccountCreds', secret: 'private_key' },
    schema: NewFcmProvider,
    faults: ({ serviceAccountCreds }) =>
      privateKeyOf(text((serviceAccountCreds as Fields).private_key), 'RSA')
        ? {}
        : { 'serviceAccountCreds.private_key': ['private_key must be an RSA key as PEM'] },
  },
  apns: {
    ...{ channel: 'push', kind: 'apns', secret: 'p8Key' },
    faults: ({ p8Key }) =>
      privateKeyOf(text(p8Key), 'P-256')
        ? {}
        : { p8Key: ['p8Key must be a key of the curve P-256 as PEM'] },
  },
  webPush: {
    ...{ channel: 'push', kind: 'web_push', secret: 'privateKey', schema: NewWebPushProvider },
    newSecret: newVapidKey,
    derived: (key) => ({ publicKey: vapidPublicKeyOf(key) }),
    faults: ({ publicKey }) =>
      publicKey
        ? {}
        : { privateKey: ['privateKey must be a key of the curve P-256, 32 bytes as base64url'] },
  },
  customPush: custom('push'),
  customSms: custom('sms'),
  customEmail: custom('email'),
  twilio: { channel: 'sms', kind: 'twilio', secret: 'twilioAuthToken', faults: () => ({}) },
  sendgrid: {
    ...{ channel: 'email', kind: 'sendgrid', secret: 'sendGridApiKey' },
    faults: replyFaults,
  },
  smtp: {
    ...{ channel: 'email', kind: 'smtp', secret: 'smtpPassword', otherSecret: 'dkimPrivateKey' },
    target: 'smtpHost',
    faults: smtpFaults,
  },
} as const satisfies Record<string, ProviderKind>

const placeOf = (appNo: number, { channel, kind }: ProviderKind, id: string) =>
  ['notification_providers.secret', appNo, channel, kind, id] as const

const secretsOf = ({ secret, otherSecret }: ProviderKind) =>
  otherSecret === undefined ? [secret] : [secret, otherSecret]

/** The fields without the secrets, and the secrets in their order. */
function split(kind: ProviderKind, fields: Fields): [Fields, secrets: string[]] {
  const { inside } = kind
  const rest = { ...((inside ? fields[inside] : fields) as Fields) }
  const secrets = secretsOf(kind).map((name) => {
    const value = text(rest[name])
    delete rest[name]
    return value
  })
  return [inside ? { ...fields, [inside]: rest } : rest, secrets]
}

function join(kind: ProviderKind, details: Fields, secrets: string[]): Fields {
  const { inside } = kind
  const holder = { ...((inside ? details[inside] : details) as Fields) }
  for (const [n, name] of secretsOf(kind).entries()) {
    // A second one is optional.
    if (n === 0 || secrets[n]) holder[name] = secrets[n]
  }
  return inside ? { ...details, [inside]: holder } : holder
}

/** What is sealed: the secret itself, or a list if there are two. */
const toSealed = (secrets: string[]) =>
  secrets.length === 1 ? (secrets[0] ?? '') : JSON.stringify(secrets)
const fromSealed = ({ otherSecret }: ProviderKind, value: string): string[] =>
  otherSecret === undefined ? [value] : JSON.parse(value)

/** A provider with its secrets, for those who call it. */
export function openProvider(
  { secrets }: Pick<Deps, 'secrets'>,
  appNo: number,
  kind: ProviderKind,
  { provider_id: id, details, secret_sealed }: ProviderRow,
): Fields {
  const value = secrets.open([...placeOf(appNo, kind, id)], secret_sealed)
  return join(kind, details, fromSealed(kind, value))
}

/** What answers show: the same with masked secrets. */
function shown(deps: Deps, appNo: number, kind: ProviderKind, row: ProviderRow): Fields {
  const open = openProvider(deps, appNo, kind, row)
  const [details, secrets] = split(kind, open)
  return join(
    kind,
    details,
    secrets.map((secret) => secret && masked(secret)),
  )
}

const isSeveral = ({ kind }: ProviderKind) => ['fcm', 'apns', 'web_push'].includes(kind)

/** All providers of a kind that has several, or the one of a kind that has one. */
export async function readProviders(
  db: Executor,
  deps: Deps,
  appNo: number,
  kind: ProviderKind,
): Promise<Fields[]> {
  const several = isSeveral(kind)
  const rows = await listProviders.many(db, { appNo, channel: kind.channel, kind: kind.kind })
  return rows.map((row) => ({
    ...shown(deps, appNo, kind, row),
    ...(several ? { isDefault: row.is_default } : { isEnabled: row.enabled }),
  }))
}

export async function readProvider(
  db: Executor,
  deps: Deps,
  appNo: number,
  kind: ProviderKind,
): Promise<Fields> {
  const [one] = await readProviders(db, deps, appNo, kind)
  if (!one) throw fail('ERR_PROVIDER_NOT_FOUND', { id: kind.kind })
  return one
}

/** The key that browsers subscribe with now. */
export async function getWebPushKey(db: Executor, appNo: number): Promise<WebPushKey> {
  const { channel, kind } = kinds.webPush
  const row = await findDefault.maybeOne(db, { appNo, channel, kind })
  if (!row) throw fail('ERR_PROVIDER_NOT_FOUND', { id: kind })
  return { providerId: row.provider_id, publicKey: text(row.details.publicKey) }
}

interface Stored {
  tx: Tx
  deps: Deps
  appNo: number
  kind: ProviderKind
  /** Empty where an app has one of a kind. */
  id: string
}

async function store(
  { tx, deps, appNo, kind, id }: Stored,
  given: Fields,
  before: ProviderRow | undefined,
  isDefault: boolean,
): Promise<void> {
  const known: Fields = kind.schema ? overlay(kind.schema, {}, given) : given
  const { providerId: _id, isEnabled = before?.enabled ?? true, ...rest } = known
  const old = before && openProvider(deps, appNo, kind, before)
  const fields = id === '' && old ? { ...old, ...rest } : rest
  const [, oldSecrets] = old ? split(kind, old) : [{}, []]
  const [plain, newSecrets] = split(kind, fields)
  const secrets = newSecrets.map((given, n) => secretOf(kind, oldSecrets[n] ?? '', given))
  // Whoever changes where it is sent would otherwise learn it.
  const isKept = secrets[0] === oldSecrets[0] && rest[kind.secret] !== oldSecrets[0]
  if (kind.target && old && isKept && isOtherHost(old[kind.target], fields[kind.target])) {
    secrets[0] = ''
  }
  const details = { ...plain, ...kind.derived?.(secrets[0] ?? '') }
  const faults = kind.faults(join(kind, details, secrets))
  if (Object.keys(faults).length > 0) throw badRequest(faults)
  await startNotifier.run(tx, { appNo })
  await storeProvider.run(tx, {
    ...{ appNo, channel: kind.channel, kind: kind.kind, id, isDefault },
    enabled: isEnabled === true,
    details: id === '' ? details : { providerId: id, ...details },
    secretSealed: deps.secrets.seal([...placeOf(appNo, kind, id)], toSealed(secrets)),
  })
}

/** The secret of a provider that is stored: a masked one means the old one. */
function secretOf({ secret: name, newSecret }: ProviderKind, before: string, given: string) {
  const isSame = before !== '' && given === masked(before)
  if (!newSecret) return isSame ? before : given
  if (before !== '' && given !== '' && !isSame && given !== before)
    throw badRequest({ [name]: [`${name} can't change: add another provider`] })
  return before || given || newSecret()
}

/** Before the transaction, because it asks name servers. */
async function checkTarget({ targets }: Deps, fields: Fields): Promise<void> {
  const { webhookURL: url, smtpHost: host } = fields
  const fault = typeof url === 'string' ? await targets.faultOf(url) : undefined
  if (fault) throw badRequest({ webhookURL: [`webhookURL ${fault}`] })
  const hostFault = typeof host === 'string' ? await targets.faultOf(`https://${host}`) : undefined
  if (hostFault) throw badRequest({ smtpHost: [`smtpHost ${hostFault}`] })
}

type Named = { providerId: string }

/** Adds one of several providers. The first of its kind becomes the default. */
const adder =
  (kind: ProviderKind) =>
  (deps: Deps, actor: Actor, given: Named): Promise<{ pushProviders: Fields[] }> => {
    const appNo = actor.app.no
    return write(deps, actor, async (tx) => {
      await lockNotifications.run(tx, { appNo })
      const rows = await listProviders.many(tx, { appNo, channel: kind.channel, kind: kind.kind })
      const { providerId: id } = given
      if (rows.some((row) => row.provider_id === id))
        throw fail('ERR_PROVIDER_ALREADY_EXISTS', { id })
      if (rows.length >= PROVIDERS_PER_KIND) {
        throw fail('ERR_PLAN_QUOTA_RESTRICTION', {
          limit: PROVIDERS_PER_KIND,
          what: `${kind.kind} providers`,
        })
      }
      await store({ tx, deps, appNo, kind, id }, given, undefined, rows.length === 0)
      return { pushProviders: await readProviders(tx, deps, appNo, kind) }
    })
  }

const replacer = (kind: ProviderKind) => (deps: Deps, actor: Actor, given: Named) => {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockNotifications.run(tx, { appNo })
    const row = await getRow(tx, appNo, kind, given.providerId)
    const { providerId: id } = given
    await store({ tx, deps, appNo, kind, id }, given, row, row.is_default)
    return { success: true as const, message: `Provider ${id} changed.` }
  })
}

/** A default provider can go only as the last of its kind: otherwise devices would silently get another sender. */
const remover = (kind: ProviderKind) => (deps: Deps, actor: Actor, id: string) => {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockNotifications.run(tx, { appNo })
    const { is_default } = await getRow(tx, appNo, kind, id)
    const of = { appNo, channel: kind.channel, kind: kind.kind }
    if (is_default && (await listProviders.many(tx, of)).length > 1) {
      throw badRequest({ providerId: ['make another provider the default first'] })
    }
    await removeProvider.run(tx, { ...of, id })
    return { success: true as const, message: `Provider ${id} deleted.` }
  })
}

const defaulter = (kind: ProviderKind) => (deps: Deps, actor: Actor, id: string) => {
  const of = { appNo: actor.app.no, channel: kind.channel, kind: kind.kind }
  return write(deps, actor, async (tx) => {
    await lockNotifications.run(tx, of)
    await clearDefault.run(tx, of)
    if (!(await makeDefault.maybeOne(tx, { ...of, id })))
      throw fail('ERR_PROVIDER_NOT_FOUND', { id })
    return { success: true as const, message: `Provider ${id} is the default.` }
  })
}

async function getRow(tx: Tx, appNo: number, { channel, kind }: ProviderKind, id: string) {
  const row = await findProvider.maybeOne(tx, { appNo, channel, kind, id })
  if (!row) throw fail('ERR_PROVIDER_NOT_FOUND', { id: id || kind })
  return row
}

/** Stores the only provider of its kind; what was stored before is replaced. */
const storer =
  (kind: ProviderKind) =>
  async (deps: Deps, actor: Actor, given: Fields): Promise<Fields> => {
    await checkTarget(deps, given)
    const appNo = actor.app.no
    return write(deps, actor, async (tx) => {
      await lockNotifications.run(tx, { appNo })
      await store({ tx, deps, appNo, kind, id: '' }, given, undefined, false)
      return readProvider(tx, deps, appNo, kind)
    })
  }

/** Changes some fields of the only provider of its kind. */
const changer =
  (kind: ProviderKind) =>
  async (deps: Deps, actor: Actor, given: Fields): Promise<Fields> => {
    await checkTarget(deps, given)
    const appNo = actor.app.no
    return write(deps, actor, async (tx) => {
      await lockNotifications.run(tx, { appNo })
      await store(
        { tx, deps, appNo, kind, id: '' },
        given,
        await getRow(tx, appNo, kind, ''),
        false,
      )
      return readProvider(tx, deps, appNo, kind)
    })
  }

const dropper = (kind: ProviderKind) => (deps: Deps, actor: Actor) => {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockNotifications.run(tx, { appNo })
    await getRow(tx, appNo, kind, '')
    await removeProvider.run(tx, { appNo, channel: kind.channel, kind: kind.kind, id: '' })
    return { success: true as const, message: 'Provider deleted.' }
  })
}

export const createFcmProvider = adder(kinds.fcm)
export const updateFcmProvider = replacer(kinds.fcm)
export const deleteFcmProvider = remover(kinds.fcm)
export const setDefaultFcmProvider = defaulter(kinds.fcm)

export const createApnsProvider = adder(kinds.apns)
export const updateApnsProvider = replacer(kinds.apns)
export const deleteApnsProvider = remover(kinds.apns)
export const setDefaultApnsProvider = defaulter(kinds.apns)

export const createWebPushProvider = adder(kinds.webPush)
export const updateWebPushProvider = replacer(kinds.webPush)
export const deleteWebPushProvider = remover(kinds.webPush)
export const setDefaultWebPushProvider = defaulter(kinds.webPush)

export const createCustomPushProvider = storer(kinds.customPush)
export const updateCustomPushProvider = changer(kinds.customPush)
export const deleteCustomPushProvider = dropper(kinds.customPush)

export const createTwilioProvider = storer(kinds.twilio)
export const updateTwilioProvider = changer(kinds.twilio)
export const deleteTwilioProvider = dropper(kinds.twilio)

export const createCustomSmsProvider = storer(kinds.customSms)
export const updateCustomSmsProvider = changer(kinds.customSms)
export const deleteCustomSmsProvider = dropper(kinds.customSms)

export const createSendgridProvider = storer(kinds.sendgrid)
export const updateSendgridProvider = changer(kinds.sendgrid)
export const deleteSendgridProvider = dropper(kinds.sendgrid)

export const createSmtpProvider = storer(kinds.smtp)
export const updateSmtpProvider = changer(kinds.smtp)
export const deleteSmtpProvider = dropper(kinds.smtp)

export const createCustomEmailProvider = storer(kinds.customEmail)
export const updateCustomEmailProvider = changer(kinds.customEmail)
export const deleteCustomEmailProvider = dropper(kinds.customEmail)
