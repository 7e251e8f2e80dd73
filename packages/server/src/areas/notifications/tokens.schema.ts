import { type Static, Type } from 'typebox'
import { SECRET } from '../../platform/http/secret-fields.ts'

const FIELDS = ['fcmToken', 'deviceToken', 'voipToken', 'subscription'] as const
type TokenField = (typeof FIELDS)[number]

const CLIENTS = ['ios', 'flutter', 'react_native', 'ionic_cordova']

/** Platforms, and the field that has their token. */
export const PLATFORMS: Readonly<Record<string, TokenField>> = {
  ...Object.fromEntries(
    [
      ...['android', 'ios', 'web', 'flutter_android', 'flutter_ios', 'react_native_android'],
      ...['react_native_ios', 'ionic_cordova_android', 'ionic_cordova_ios'],
    ].map((name) => [`fcm_${name}`, 'fcmToken'] as const),
  ),
  ...Object.fromEntries(CLIENTS.map((name) => [`apns_${name}_device`, 'deviceToken'] as const)),
  ...Object.fromEntries(CLIENTS.map((name) => [`apns_${name}_voip`, 'voipToken'] as const)),
  web_push: 'subscription',
}

const Token = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4_096, pattern: '^[!-~]*$', description })

const AuthToken = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    description:
      'Auth token of the session that the device belongs to. Devices leave it out: they send it in the header.',
  }),
)

/** What `PushSubscription.toJSON()` returns in a browser. */
const Subscription = Type.Object(
  {
    endpoint: Type.String({
      maxLength: 4_096,
      description: 'URL of the push service. It must use `https://` and a public address.',
    }),
    keys: Type.Object({
      p256dh: Type.String({ maxLength: 100, description: 'Public key of the browser.' }),
      auth: Type.String({ maxLength: 50, description: 'Secret shared with the browser.' }),
    }),
  },
  { ...SECRET, 'x-component': 'WebPushSubscription' },
)
export type Subscription = Static<typeof Subscription>

export const NewPushToken = Type.Object({
  authToken: AuthToken,
  platform: Type.Enum(Object.keys(PLATFORMS)),
  providerId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Default: the default provider.' }),
  ),
  fcmToken: Type.Optional(Token('Token of the platforms `fcm_…`.')),
  deviceToken: Type.Optional(Token('Token of the platforms `apns_…_device`.')),
  voipToken: Type.Optional(Token('Token of the platforms `apns_…_voip`.')),
  subscription: Type.Optional(Subscription),
  timezone: Type.Optional(
    Type.String({ maxLength: 100, description: "Becomes the user's time zone." }),
  ),
})
export type NewPushToken = Static<typeof NewPushToken>

const all = Type.Boolean({
  default: false,
  description: "Whether all tokens of the user are meant, not only this session's.",
})

export const TokenListQuery = Type.Object({ authToken: AuthToken, all })
export const TokenDeleteQuery = Type.Object({ all })

/** Without a body from a device. */
export const OfSession = Type.Unsafe<{ authToken?: string } | null>({
  type: ['object', 'null'],
  properties: { authToken: { ...AuthToken } },
})

export const PushTokenParams = Type.Object({
  pushToken: Type.String({
    maxLength: 4_096,
    description: 'The token; for `web_push`, the endpoint of the subscription.',
  }),
})

export const PushToken = Type.Object(
  {
    uid: Type.String({ description: 'UID of the user.' }),
    authToken: Type.String({
      description:
        "Auth token of the session. Devices see only the last four characters of other sessions' tokens.",
    }),
    platform: Type.String(),
    providerId: Type.Optional(Type.String()),
    pushToken: Type.String(),
    pushTokenType: Type.Enum(['chat', 'voip']),
    createdAt: Type.String({ description: 'Time of the registration, ISO 8601.' }),
    updatedAt: Type.String({ description: 'Time of the last registration, ISO 8601.' }),
  },
  { additionalProperties: false, 'x-component': 'PushToken' },
)
export type PushToken = Static<typeof PushToken>

export const PushTokens = Type.Object(
  { pushTokens: Type.Array(PushToken) },
  { additionalProperties: false },
)
