/** A setting of an app: what it does, and its valid values. */
export type Setting = { description: string } & (
  | { type: 'boolean'; default: boolean }
  | { type: 'integer'; default: number; min: number; max: number }
  | { type: 'origins'; default: '' }
)

const onOff = (initial: boolean, description: string): Setting => ({
  type: 'boolean',
  default: initial,
  description,
})

const count = (initial: number, max: number, description: string): Setting => ({
  type: 'integer',
  default: initial,
  min: 1,
  max,
  description,
})

const NO_CEILING = 1_000_000_000

/** All settings of an app. A cell stores only values that differ from the default. */
export const settings = {
  'core.conversations.updateOnGroupActions': onOff(
    true,
    'Membership actions become the last message and count as unread.',
  ),
  'core.conversations.updateOnReplies': onOff(
    true,
    'Thread replies become the last message; they never count as unread.',
  ),
  'core.conversations.updateOnMessageActions': onOff(
    false,
    'Edits and deletions become the last message and count as unread.',
  ),
  'core.conversations.updateOnCallActivity': onOff(
    false,
    'Calls become the last message and count as unread.',
  ),
  'core.conversations.updateOnCustomMessage': onOff(
    true,
    'Custom messages become the last message and count as unread.',
  ),
  'core.threads.updateOnMessageActions': onOff(
    false,
    'Edits and deletions inside threads become the last message and count as unread.',
  ),
  'moderation.hideAfterFlags': {
    ...count(0, 1_000, 'Hides a message when so many users have flagged it; 0: never.'),
    min: 0,
  } as Setting,
  'retention.messageDays': {
    ...count(0, 36_500, 'Messages that are older than so many days are deleted; 0: never.'),
    min: 0,
  } as Setting,
  'limits.membersPerGroup': count(100_000, NO_CEILING, 'Maximum number of members per group.'),
  'limits.groupsPerUser': count(2_000, NO_CEILING, 'Maximum number of groups per user.'),
  'limits.friendsPerUser': count(1_000, NO_CEILING, 'Maximum number of friends per user.'),
  'limits.blocksPerUser': count(10_000, NO_CEILING, 'Maximum number of users whom a user blocks.'),
  'limits.reactionsPerMessage': count(
    100,
    1_000,
    'Maximum number of different reactions per message.',
  ),
  'limits.pinnedMessages': count(100, 1_000, 'Maximum number of pinned messages per conversation.'),
  'limits.savedMessages': count(100, 1_000, 'Maximum number of saved messages per user.'),
  'limits.authTokensPerUser': count(
    100,
    10_000,
    'Maximum number of valid auth tokens per user; older ones expire first.',
  ),
  'limits.fileBytes': count(
    104_857_600,
    5_000_000_000,
    'Maximum size of an uploaded file in bytes.',
  ),
  'limits.storageBytes': count(
    10_737_418_240,
    1_000_000_000_000_000,
    'Maximum number of bytes that all files of the app take, with their thumbnails.',
  ),
  'limits.connectionsPerUser': count(
    100,
    10_000,
    'Maximum number of connections per user to one gateway process.',
  ),
  'limits.connectionsPerApp': count(
    100_000,
    NO_CEILING,
    'Maximum number of connections of the app to one gateway process.',
  ),
  'limits.readsAtOnce': count(
    16,
    10_000,
    'Maximum number of requests for reading that run at the same time, in all API processes together. Slow ones count up to four times.',
  ),
  'limits.writesAtOnce': count(
    32,
    10_000,
    'The same for requests that change something. Plain messages have a queue of their own.',
  ),
  'limits.moderationRules': count(25, 90, 'Maximum number of rules of moderation.'),
  'limits.keywordLists': count(25, 90, 'Maximum number of keyword lists.'),
  'limits.keywordsPerList': count(10_000, 50_000, 'Maximum number of entries per keyword list.'),
  'limits.filtersPerRule': count(10, 100, 'Maximum number of filters per rule of moderation.'),
  'limits.conditionsPerRule': count(
    10,
    100,
    'Maximum number of conditions per rule of moderation.',
  ),
  'rate.core': count(
    10_000,
    NO_CEILING,
    'Requests per minute: logins, creating and deleting users, creating, joining and leaving groups.',
  ),
  'rate.standard': count(20_000, NO_CEILING, 'Requests per minute: everything else.'),
  'rate.import': count(60, NO_CEILING, 'Requests per minute: imports of up to 50 items.'),
  'rate.user': count(
    1_200,
    NO_CEILING,
    'Requests per minute of one user with auth tokens. They count for the app too.',
  ),
  'rate.failed': count(
    600,
    NO_CEILING,
    'Unknown API keys and auth tokens per minute from one network address. They count for nothing else.',
  ),
  'rate.disapproved': count(
    20,
    NO_CEILING,
    'Messages per minute of one user that rules of moderation disapprove. After that, nothing of this user is sent until the minute is over.',
  ),
  'cors.origins': {
    type: 'origins',
    default: '',
    description:
      'Origins whose pages may call the app with an auth token, separated by commas; * for all.',
  },
} satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
export type LimitName = SettingName & `${'limits' | 'rate'}.${string}`
export type SettingValue = boolean | number | string
/** Explicit values; all others have their defaults. */
export type Settings = Partial<Record<SettingName, SettingValue>>

/**
 * The most that an app's operators may set for limits and rates. By default, that is the default of the setting: only
 * the installation's operator can allow an app more, or less.
 */
export type Ceilings = Partial<Record<LimitName, number>>

export const isLimitName = (name: SettingName): name is LimitName => /^(limits|rate)\./.test(name)

export const ceilingOf = (ceilings: Ceilings, name: LimitName): number =>
  ceilings[name] ?? Number(defaultOf(name))

const limitNames = (Object.keys(settings) as SettingName[]).filter(isLimitName)

/** What throttling an app lowers. */
const isThrottled = (name: LimitName) => /^rate\.(?!failed|disapproved)|AtOnce$/.test(name)

interface Stored {
  settings: Settings
  ceilings: Ceilings
  /** Percent. */
  throttle?: number | null
}

/** The explicit values in force: a limit above its ceiling is as low as the ceiling, and less if the app is throttled. */
export function settingsInForce({ settings: stored, ceilings, throttle }: Stored): Settings {
  const inForce = { ...stored }
  for (const name of limitNames) {
    const limit = Number(settingOf(inForce, name))
    const allowed = Math.min(limit, ceilingOf(ceilings, name))
    const value = throttle && isThrottled(name) ? Math.ceil((allowed * throttle) / 100) : allowed
    if (value < limit) inForce[name] = value
  }
  return inForce
}

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(settings, name)

export const defaultOf = (name: SettingName): SettingValue => settings[name].default

/** The effective value. */
export const settingOf = (explicit: Settings, name: SettingName): SettingValue =>
  explicit[name] ?? defaultOf(name)

export const limitOf = (explicit: Settings, name: `limits.${string}` & SettingName): number =>
  Number(settingOf(explicit, name))

/** Origins whose pages may read answers. */
export const originsOf = (explicit: Settings): string[] =>
  String(explicit['cors.origins'] ?? '')
    .split(',')
    .filter(Boolean)

/** Parses a value as people write it. Throws an Error whose message completes "NAME …". */
export function parseSetting(name: SettingName, text: string): SettingValue {
  const setting: Setting = settings[name]
  if (setting.type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw new Error('must be true or false')
    return text === 'true'
  }
  if (setting.type === 'origins') return parseOrigins(text)
  const { min, max } = setting
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(`must be an integer from ${min} to ${max}`)
  }
  return value
}

function parseOrigins(text: string): string {
  if (text === '') return ''
  const origins = text.split(',').map((origin) => origin.trim())
  const wrong = origins.find((origin) => origin !== '*' && !isOrigin(origin))
  if (wrong !== undefined)
    throw new Error(`contains "${wrong}", which is not of the form https://host[:port]`)
  return origins.join(',')
}

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text
