import type { Deps } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import type { PushCredentials } from '../../platform/push/push.ts'
import { type Fields, kinds, openProvider } from './providers.actions.ts'
import { findProvider } from './providers.queries.ts'

export type PushKind = PushCredentials['provider']

/** A provider of push with its secrets. */
export interface OpenProvider {
  kind: PushKind
  fields: Fields
  credentials: PushCredentials
}

const KINDS = {
  fcm: kinds.fcm,
  apns: kinds.apns,
  web_push: kinds.webPush,
  custom: kinds.customPush,
} as const satisfies Record<PushKind, unknown>

/** The provider with a name such as `fcm/main`; undefined if the app has none, or has disabled it. */
export async function findCredentials(
  db: Executor,
  deps: Pick<Deps, 'secrets'>,
  appNo: number,
  name: string,
): Promise<OpenProvider | undefined> {
  const [kind, id] = splitName(name)
  const row = await findProvider.maybeOne(db, { appNo, channel: 'push', kind, id })
  if (!row?.enabled) return undefined
  const fields = openProvider(deps, appNo, KINDS[kind], row)
  return { kind, fields, credentials: credentialsOf(kind, fields) }
}

/** The kind and the id in the name of a provider. */
export const splitName = (name: string) => {
  const slash = name.indexOf('/')
  return [name.slice(0, slash) as PushKind, name.slice(slash + 1)] as const
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')

/** The credentials in the fields of a provider. */
export function credentialsOf(kind: PushKind, fields: Fields): PushCredentials {
  switch (kind) {
    case 'fcm': {
      const account = fields.serviceAccountCreds as Record<string, string>
      return {
        ...{ provider: 'fcm', projectId: text(account.project_id) },
        ...{ clientEmail: text(account.client_email), privateKey: text(account.private_key) },
        privateKeyId: text(account.private_key_id),
      }
    }
    case 'apns':
      return {
        ...{ provider: 'apns', teamId: text(fields.teamId), keyId: text(fields.keyId) },
        ...{ p8Key: text(fields.p8Key), bundleId: text(fields.bundleId) },
        production: fields.productionMode === true,
      }
    case 'web_push':
      return {
        ...{ provider: 'web_push', publicKey: text(fields.publicKey) },
        ...{ privateKey: text(fields.privateKey), subject: text(fields.subject) },
      }
    case 'custom': {
      const login = {
        username: text(fields.basicAuthUsername),
        password: text(fields.basicAuthPassword),
      }
      return {
        ...{ provider: 'custom', url: text(fields.webhookURL) },
        ...(fields.useBasicAuth === true && { login }),
      }
    }
  }
}
