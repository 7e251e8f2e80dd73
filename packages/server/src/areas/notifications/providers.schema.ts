import { type Static, Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'
import { SECRET } from '../../platform/http/secret-fields.ts'

const Word = (description: string, maxLength = 200) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[!-~]*$', description })
const Label = (description: string) => Type.String({ maxLength: 200, description })
const Secret = (description: string) =>
  Type.String({
    ...SECRET,
    minLength: 1,
    maxLength: 8_192,
    description: `${description} Answers show its last four characters; if you send those back, it stays.`,
  })
const HttpsUrl = Type.String({
  maxLength: 1_000,
  description: 'URL that is called. It must use `https://` and a public address.',
})
const Email = Type.String({ maxLength: 254, pattern: '^[^\\s@]+@[^\\s@]+$' })
const Phone = Type.String({
  maxLength: 20,
  pattern: '^\\+[1-9][0-9]*$',
  description: 'Phone number with country code.',
})

const providerId = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[A-Za-z0-9_.-]*$',
  description: 'Name of your choice: letters, digits, `_`, `.` and `-`.',
})
export const ProviderParams = Type.Object({ providerId })

const Display = Type.Optional(
  Type.Object({ chat: Type.Optional(Type.Boolean()), call: Type.Optional(Type.Boolean()) }),
)

const fcm = {
  providerId,
  serviceAccountFilename: Type.Optional(Label('Name of the file, for your own use.')),
  serviceAccountCreds: Type.Object(
    {
      project_id: Word('Project of the service account.'),
      client_email: Email,
      private_key: Secret('RSA key as PEM.'),
      private_key_id: Word('Id of the key.'),
    },
    { description: 'From the file that Google gives you for a service account.' },
  ),
  notificationInPayload: Type.Optional(
    Type.Object(
      { ios: Display, android: Display, web: Display },
      { description: 'Where a payload has a part that the system displays by itself.' },
    ),
  ),
}
export const NewFcmProvider = Type.Object(fcm)
export type NewFcmProvider = Static<typeof NewFcmProvider>

const apns = {
  providerId,
  keyId: Word('Id of the key.', 50),
  teamId: Word('Id of the team.', 50),
  bundleId: Word('Bundle id of the app.'),
  p8KeyFilename: Label('Name of the file, for your own use.'),
  p8Key: Secret('Key from the .p8 file.'),
  includeContentAvailable: Type.Optional(Type.Boolean()),
  includeMutableContent: Type.Optional(Type.Boolean()),
  productionMode: Type.Optional(
    Type.Boolean({ description: 'Whether Apple’s production servers are called. Default: false.' }),
  ),
}
export const NewApnsProvider = Type.Object(apns)
export type NewApnsProvider = Static<typeof NewApnsProvider>

const webPush = {
  providerId,
  subject: Type.String({
    maxLength: 500,
    pattern: '^(mailto:[^\\s@]+@[^\\s@]+|https://\\S+)$',
    description: 'How push services reach you: `mailto:` with an address, or an `https://` URL.',
  }),
}
export const NewWebPushProvider = Type.Object({
  ...webPush,
  privateKey: Type.Optional(
    Secret(
      'VAPID private key, 32 bytes as base64url. Leave it out, and a new one is made. A provider keeps its key: browsers subscribe with it.',
    ),
  ),
})
export type NewWebPushProvider = Static<typeof NewWebPushProvider>

const publicKey = Type.String({
  description: 'VAPID public key, which browsers subscribe with (`applicationServerKey`).',
})

const isDefault = Type.Boolean({
  description: 'Whether it sends to devices whose push token names no provider.',
})

/** The shown form of a provider has masked secrets. */
export const FcmProviders = Type.Object(
  {
    pushProviders: Type.Array(
      Type.Object(
        { ...fcm, isDefault },
        { additionalProperties: false, 'x-component': 'FcmProvider' },
      ),
    ),
  },
  { additionalProperties: false },
)
export const ApnsProviders = Type.Object(
  {
    pushProviders: Type.Array(
      Type.Object(
        { ...apns, isDefault },
        { additionalProperties: false, 'x-component': 'ApnsProvider' },
      ),
    ),
  },
  { additionalProperties: false },
)

export const WebPushProviders = Type.Object(
  {
    pushProviders: Type.Array(
      Type.Object(
        { ...webPush, publicKey, privateKey: Secret('VAPID private key.'), isDefault },
        { additionalProperties: false, 'x-component': 'WebPushProvider' },
      ),
    ),
  },
  { additionalProperties: false },
)

/** What a browser needs for a subscription. */
export const WebPushKey = Type.Object(
  { providerId, publicKey },
  { additionalProperties: false, 'x-component': 'WebPushKey' },
)

export type WebPushKey = Static<typeof WebPushKey>

const custom = {
  isEnabled: Type.Boolean({ description: 'Whether it is in use.' }),
  webhookURL: HttpsUrl,
  useBasicAuth: Type.Boolean({ description: 'Whether name and password are sent.' }),
  basicAuthUsername: Label('Name for basic authentication.'),
  basicAuthPassword: Type.String({
    ...SECRET,
    maxLength: 200,
    description: 'Password for basic authentication. Answers show its last four characters.',
  }),
}
const useStoredPhNo = Type.Boolean({
  default: false,
  description: 'Whether only users with a stored phone number are notified.',
})
const useStoredEmailID = Type.Boolean({
  default: false,
  description: 'Whether only users with a stored email address are notified.',
})
const twilio = {
  twilioAccountSID: Word('Account SID.'),
  twilioAuthToken: Secret('Auth token.'),
  twilioSenderPhoneNumber: Phone,
}
const sendgrid = {
  sendGridApiKey: Secret('API key.'),
  sendGridTemplateID: Word('Id of the template.'),
  sendGridUnsubscribeGroupID: Word('Id of the group for unsubscribing.'),
  senderName: Label('Name of the sender.'),
  senderEmail: Email,
  allowEmailReplies: Type.Boolean({
    default: false,
    description: 'Whether answers by email become messages.',
  }),
}
const { senderName, senderEmail, allowEmailReplies } = sendgrid
const smtp = {
  smtpHost: Type.String({
    ...{ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.-]*$' },
    description: 'Host name of your mail server. It must have a public address.',
  }),
  smtpPort: Type.Integer({ minimum: 1, maximum: 65_535, default: 587 }),
  smtpSecurity: Type.Enum(['starttls', 'tls'], {
    default: 'starttls',
    description:
      '`tls`: encrypted from the start (usually port 465). `starttls`: encrypted before the login. Nothing is sent without TLS.',
  }),
  ...{ senderName, senderEmail, allowEmailReplies },
}
const smtpLogin = {
  smtpUsername: Type.String({ maxLength: 200, description: 'Name for the login.' }),
  smtpPassword: Type.String({
    ...SECRET,
    maxLength: 1_000,
    description:
      'Password for the login. Answers show its last four characters; if you send those back, it stays.',
  }),
}
const dkim = {
  dkimDomain: Type.String({
    ...{ maxLength: 253, pattern: '^[A-Za-z0-9.-]*$' },
    description: 'Domain that signs emails with DKIM.',
  }),
  dkimSelector: Type.String({
    ...{ maxLength: 63, pattern: '^[A-Za-z0-9._-]*$' },
    description: 'Where the public key is: `<selector>._domainkey.<domain>`.',
  }),
  dkimPrivateKey: Type.String({
    ...SECRET,
    maxLength: 8_192,
    description:
      'RSA key as PEM. Answers show its last four characters; if you send those back, it stays.',
  }),
}
/** All optional, in requests and answers. */
const smtpExtras = Type.Partial(Type.Object({ ...smtpLogin, ...dkim })).properties
const senderEmailForReplies = Type.Optional(Nullable(Email))
const isEnabled = Type.Optional(
  Type.Boolean({ description: 'Whether it is in use. Default: true.' }),
)

/** Every field of a request, without the defaults that validation would fill in. */
const changes = <P extends Record<string, object>>(properties: P) =>
  Type.Partial(
    Type.Object(
      Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => {
          const { default: _default, ...kept } = schema as { default?: unknown }
          return [name, kept]
        }),
      ) as P,
    ),
  )

export const NewCustomPush = Type.Object(custom)
export const CustomPushChanges = changes(custom)
const one = <P extends Record<string, object>>(name: string, properties: P) =>
  Type.Object(properties as never, { additionalProperties: false, 'x-component': name })

export const CustomPushProvider = one('CustomProvider', custom)

export const NewCustomSms = Type.Object({ ...custom, useStoredPhNo })
export const CustomSmsChanges = changes({ ...custom, useStoredPhNo })
export const CustomSmsProvider = one('CustomSmsProvider', { ...custom, useStoredPhNo })

export const NewCustomEmail = Type.Object({ ...custom, useStoredEmailID })
export const CustomEmailChanges = changes({ ...custom, useStoredEmailID })
export const CustomEmailProvider = one('CustomEmailProvider', { ...custom, useStoredEmailID })

export const NewTwilio = Type.Object({ ...twilio, isEnabled })
export const TwilioChanges = changes({ ...twilio, isEnabled: custom.isEnabled })
export const TwilioProvider = one('TwilioProvider', { ...twilio, isEnabled: custom.isEnabled })

export const NewSendgrid = Type.Object({ ...sendgrid, senderEmailForReplies, isEnabled })
export const SendgridChanges = changes({
  ...sendgrid,
  senderEmailForReplies: Nullable(Email),
  isEnabled: custom.isEnabled,
})
export const SendgridProvider = one('SendgridProvider', {
  ...sendgrid,
  senderEmailForReplies,
  repliesWebhook: Type.Optional(
    Type.String({
      description:
        'URL for SendGrid’s inbound parse webhook, if replies are allowed. It contains a secret.',
    }),
  ),
  eventsWebhook: Type.Optional(
    Type.String({
      description:
        'URL for SendGrid’s event webhook: addresses that bounce or complain get nothing more. It contains a secret.',
    }),
  ),
  isEnabled: custom.isEnabled,
})

export const NewSmtp = Type.Object({ ...smtp, ...smtpExtras, senderEmailForReplies, isEnabled })
export const SmtpChanges = changes({
  ...{ ...smtp, ...smtpLogin, ...dkim, senderEmailForReplies: Nullable(Email) },
  isEnabled: custom.isEnabled,
})
export const SmtpProvider = one('SmtpProvider', {
  ...{ ...smtp, ...smtpExtras, senderEmailForReplies },
  isEnabled: custom.isEnabled,
})
