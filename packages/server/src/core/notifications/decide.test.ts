import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Choices, settingsOfUser } from './choices.ts'
import { type Decision, decide, type Facts, type Occasion, type Reason } from './decide.ts'
import { CALL_ACTIONS, DAYS, GROUP_ACTIONS, Preferences, type Schedule } from './preferences.ts'
import { Templates } from './templates.ts'
import { type Changes, defaultsOf, overlay } from './tree.ts'

const DEFAULTS = defaultsOf(Preferences)
const templates = defaultsOf(Templates)

const effective = (app: Changes<Preferences>, choices: Choices = {}): Preferences =>
  settingsOfUser({ preferences: overlay(Preferences, DEFAULTS, app), templates }, choices)
    .preferences

const MESSAGE: Occasion = { type: 'message', mentioned: false }
const MENTION: Occasion = { type: 'message', mentioned: true }

const facts = (some: Partial<Facts> = {}): Facts => ({
  channel: 'push',
  occasion: MESSAGE,
  conversation: 'group',
  preferences: DEFAULTS,
  zone: 'UTC',
  at: new Date('2026-06-01T12:00:00Z'),
  own: false,
  hidden: false,
  held: false,
  blocked: false,
  read: false,
  ready: 'yes',
  ...some,
})

const YES: Decision = { notify: true }
const no = (reason: Reason): Decision => ({ notify: false, reason })

/** An occasion, the setting that decides about it, and the codes with which a receiver is notified. */
type Case = [Occasion, setting: string, codes: number[], yes: number[], Reason]

const ofMessages: Case[] = [
  [MESSAGE, 'messages', [1, 2, 3], [2], 'MESSAGES_PREFERENCE'],
  [MENTION, 'messages', [1, 2, 3], [2, 3], 'MESSAGES_PREFERENCE'],
  [{ type: 'reply', mentioned: false }, 'replies', [1, 2, 3], [2], 'REPLIES_PREFERENCE'],
  [{ type: 'reply', mentioned: true }, 'replies', [1, 2, 3], [2, 3], 'REPLIES_PREFERENCE'],
  [{ type: 'reaction', own: true }, 'reactions', [1, 2, 3], [2, 3], 'REACTIONS_PREFERENCE'],
  [{ type: 'reaction', own: false }, 'reactions', [1, 2, 3], [3], 'REACTIONS_PREFERENCE'],
  [{ type: 'messageEdited' }, 'messageEdited', [1, 2], [2], 'MESSAGE_ACTIONS_PREFERENCE'],
  [{ type: 'messageDeleted' }, 'messageDeleted', [1, 2], [2], 'MESSAGE_ACTIONS_PREFERENCE'],
]
const ofGroups = GROUP_ACTIONS.map(
  (type): Case => [{ type }, type, [1, 2], [2], 'GROUP_ACTIONS_PREFERENCE'],
)
const ofCalls = CALL_ACTIONS.map(
  (action): Case => [{ type: 'call', action }, action, [1, 2], [2], 'CALL_PREFERENCE'],
)
const all: [section: 'group' | 'oneOnOne' | 'call', Case][] = [
  ...[...ofMessages, ...ofGroups].map((one): ['group', Case] => ['group', one]),
  ...ofMessages.map((one): ['oneOnOne', Case] => ['oneOnOne', one]),
  ...ofCalls.map((one): ['call', Case] => ['call', one]),
]

const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

suite('preferences', () => {
  test('decide by the code of the app, or of the user if the app lets users choose', () => {
    let checked = 0
    for (const [section, [occasion, setting, codes, yes, reason]] of all) {
      const conversation = section === 'call' ? 'oneOnOne' : section
      // Users have no choice about calls, edits and deletions, whatever the app says.
      const free =
        section !== 'call' && !setting.startsWith('messageE') && !setting.startsWith('messageD')
      for (const own of codes) {
        for (const chosen of [undefined, ...codes]) {
          for (const override of [true, false]) {
            const app = {
              [section]: { [`${setting}Setting`]: own, [`${setting}Override`]: override },
            }
            const choices = {
              [`${section}Preferences`]: { [`${section}${capitalized(setting)}`]: chosen },
            }
            const code = free && override ? (chosen ?? own) : own
            const preferences = effective(app, choices)
            const where = JSON.stringify({ section, occasion, own, chosen, override })
            const expected: Decision = yes.includes(code) ? YES : no(reason)
            assert.deepEqual(
              decide(facts({ occasion, conversation, preferences })),
              expected,
              where,
            )
            checked++
          }
        }
      }
    }
    assert.ok(checked > 400, String(checked))
  })
})

suite('what the receiver must not learn', () => {
  const everything = effective({ bypassPreferencesForMentions: true })
  const cases: [Partial<Facts>, Reason][] = [
    [{ own: true }, 'OWN_ACTION'],
    [{ hidden: true }, 'NO_ACCESS'],
    [{ held: true }, 'MODERATION'],
    [{ blocked: true }, 'BLOCKED_SENDER'],
    [{ read: true }, 'ALREADY_READ'],
  ]
  for (const [some, reason] of cases) {
    test(`isn't told, not even in a mention: ${reason}`, () => {
      const given = facts({ ...some, occasion: MENTION, preferences: everything })
      assert.deepEqual(decide(given), no(reason))
      // Even if the receiver doesn't want it: the reason says what comes first.
      const unwanted = effective({ group: { messagesSetting: 1 } })
      assert.deepEqual(decide({ ...given, preferences: unwanted }), no(reason))
    })
  }

  test('a deletion takes back what was read', () => {
    assert.deepEqual(decide(facts({ read: true, occasion: { type: 'messageDeleted' } })), YES)
  })
})

suite('quiet', () => {
  const dnd = { dndPreferenceSetting: 2 as const }
  const closed = { schedulePreferenceSetting: { monday: { dnd: true } } }
  const mutedUntil = new Date('2026-06-02T00:00:00Z')
  const quiet: [string, Changes<Preferences['mute']>, Partial<Facts>, Reason][] = [
    ['do not disturb', dnd, {}, 'DND_PREFERENCE'],
    ['a mute', {}, { mutedUntil }, 'MUTE_PREFERENCE'],
    ['the schedule', closed, {}, 'SCHEDULE_PREFERENCE'],
  ]

  for (const [name, mute, some, reason] of quiet) {
    test(`${name} stops everything but deletions, and mentions that bypass it`, () => {
      const preferences = effective({ mute })
      assert.deepEqual(decide(facts({ ...some, preferences })), no(reason))
      assert.deepEqual(decide(facts({ ...some, preferences, occasion: MENTION })), no(reason))
      const call: Occasion = { type: 'call', action: 'initiated' }
      assert.deepEqual(decide(facts({ ...some, preferences, occasion: call })), no(reason))
      const bypass = effective({ mute, bypassPreferencesForMentions: true })
      assert.deepEqual(decide(facts({ ...some, preferences: bypass })), no(reason))
      assert.deepEqual(decide(facts({ ...some, preferences: bypass, occasion: MENTION })), YES)
      const deleted: Occasion = { type: 'messageDeleted' }
      assert.deepEqual(decide(facts({ ...some, preferences, occasion: deleted })), YES)
      const unready = { ...some, preferences: bypass, occasion: MENTION, ready: 'noToken' } as const
      assert.deepEqual(decide(facts(unready)), no('NO_PUSH_TOKEN'))
    })
  }

  test('comes in the order do not disturb, mute, schedule, quota, provider', () => {
    const sent = { today: 20, ofConversation: 0 }
    const stuck: Partial<Facts> = { channel: 'email', sent, ready: 'noEmail' }
    const order: [Partial<Facts>, Reason][] = [
      [{ mutedUntil, preferences: effective({ mute: { ...dnd, ...closed } }) }, 'DND_PREFERENCE'],
      [{ mutedUntil, preferences: effective({ mute: closed }) }, 'MUTE_PREFERENCE'],
      [{ preferences: effective({ mute: closed }) }, 'SCHEDULE_PREFERENCE'],
      [{}, 'QUOTA_PREFERENCE'],
      [{ sent: { today: 19, ofConversation: 1 } }, 'MISSING_EMAIL'],
    ]
    for (const [some, reason] of order)
      assert.deepEqual(decide(facts({ ...stuck, ...some })), no(reason))
  })

  test('ends: a mute lasts until its end, and counts only if users may mute', () => {
    assert.deepEqual(decide(facts({ mutedUntil, at: mutedUntil })), YES)
    const preferences = effective({ mute: { mutedGroupsOverride: false } })
    assert.deepEqual(decide(facts({ mutedUntil, preferences })), YES)
    const oneOnOne = { mutedUntil, preferences, conversation: 'oneOnOne' } as const
    assert.deepEqual(decide(facts(oneOnOne)), no('MUTE_PREFERENCE'))
  })

  test('can hold messages, but not calls', () => {
    const preferences = effective({ mute: { ...closed, holdPreferenceSetting: true } })
    const reason = 'SCHEDULE_PREFERENCE'
    const at = new Date('2026-06-02T00:00:00Z')
    assert.deepEqual(decide(facts({ preferences })), { notify: 'later', at, reason })
    const call: Occasion = { type: 'call', action: 'initiated' }
    assert.deepEqual(decide(facts({ preferences, occasion: call })), no(reason))
    // Nothing is held for somebody who can't be reached, nor without end.
    assert.deepEqual(decide(facts({ preferences, ready: 'noToken' })), no('NO_PUSH_TOKEN'))
    const schedulePreferenceSetting = Object.fromEntries(DAYS.map((day) => [day, { dnd: true }]))
    const never = effective({ mute: { schedulePreferenceSetting, holdPreferenceSetting: true } })
    assert.deepEqual(decide(facts({ preferences: never })), no(reason))
  })
})

suite('quotas', () => {
  test('bind email and SMS, each with its own numbers', () => {
    const preferences = effective({ sms: { maxPerDay: 3, maxPerDayPerConversation: 3 } })
    const sent = { today: 3, ofConversation: 1 }
    assert.deepEqual(decide(facts({ channel: 'push', preferences, sent })), YES)
    assert.deepEqual(decide(facts({ channel: 'email', preferences, sent })), YES)
    const over = decide(facts({ channel: 'sms', preferences, sent }))
    assert.deepEqual(over, no('QUOTA_PREFERENCE'))
    const often = { today: 2, ofConversation: 2 }
    assert.deepEqual(
      decide(facts({ channel: 'email', preferences, sent: often })),
      no('QUOTA_PREFERENCE'),
    )
  })
})

suite('schedules', () => {
  const week = (days: Changes<Schedule>): Preferences =>
    effective({ mute: { schedulePreferenceSetting: days, holdPreferenceSetting: true } })

  /** `open`, `never`, or the time until which it waits. */
  const held = (days: Changes<Schedule>, zone: string, at: string) => {
    const decision = decide(facts({ preferences: week(days), zone, at: new Date(at) }))
    if (decision.notify === 'later') return decision.at.toISOString()
    return decision.notify ? 'open' : 'never'
  }

  const office = { from: 900, to: 1730 }
  const cases: [name: string, Changes<Schedule>, zone: string, at: string, expected: string][] = [
    ['the first minute', { monday: office }, 'UTC', '2026-06-01T09:00:00Z', 'open'],
    ['before', { monday: office }, 'UTC', '2026-06-01T08:59:59Z', '2026-06-01T09:00:00.000Z'],
    ['the last minute', { monday: office }, 'UTC', '2026-06-01T17:30:59Z', 'open'],
    ['after', { monday: office }, 'UTC', '2026-06-01T17:31:00Z', '2026-06-02T00:00:00.000Z'],
    [
      'an odd minute',
      { monday: { from: 907, to: 908 } },
      'UTC',
      '2026-06-01T08:12:30Z',
      '2026-06-01T09:07:00.000Z',
    ],
    ['the end of the day', {}, 'UTC', '2026-06-01T23:59:59.999Z', 'open'],
    [
      'summer time begins: half past two does not exist',
      { sunday: { from: 230 } },
      'Europe/Berlin',
      '2026-03-29T00:59:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'summer time begins: hours that fall into the gap do not exist on this day',
      { sunday: { from: 200, to: 259 } },
      'Europe/Berlin',
      '2026-03-29T00:30:00Z',
      '2026-03-29T22:00:00.000Z',
    ],
    [
      'summer time ends: half past two, first time',
      { sunday: { from: 230, to: 245 } },
      'Europe/Berlin',
      '2026-10-25T00:30:00Z',
      'open',
    ],
    [
      'summer time ends: and again an hour later',
      { sunday: { from: 230, to: 245 } },
      'Europe/Berlin',
      '2026-10-25T00:46:00Z',
      '2026-10-25T01:30:00.000Z',
    ],
    [
      'UTC+13: it is Sunday already',
      { sunday: { dnd: true } },
      'Pacific/Tongatapu',
      '2026-06-06T11:00:00Z',
      '2026-06-07T11:00:00.000Z',
    ],
    [
      'UTC+13: still Saturday',
      { sunday: { dnd: true } },
      'Pacific/Tongatapu',
      '2026-06-06T10:59:59Z',
      'open',
    ],
    [
      'UTC-11: Monday comes late',
      { sunday: { dnd: true } },
      'Pacific/Pago_Pago',
      '2026-06-08T10:59:00Z',
      '2026-06-08T11:00:00.000Z',
    ],
    [
      'an offset of 45 minutes',
      { monday: office },
      'Asia/Kathmandu',
      '2026-06-01T03:10:00Z',
      '2026-06-01T03:15:00.000Z',
    ],
    [
      'several days of silence',
      { friday: { dnd: true }, saturday: { dnd: true }, sunday: { from: 1000 } },
      'UTC',
      '2026-06-05T00:00:00Z',
      '2026-06-07T10:00:00.000Z',
    ],
    [
      'six days of silence, and the last minute of the seventh',
      {
        ...Object.fromEntries(DAYS.map((day) => [day, { dnd: true }])),
        monday: { from: 2359, dnd: false },
      },
      'UTC',
      '2026-06-02T00:00:00Z',
      '2026-06-08T23:59:00.000Z',
    ],
  ]
  for (const [name, days, zone, at, expected] of cases) {
    test(name, () => assert.equal(held(days, zone, at), expected))
  }
})
