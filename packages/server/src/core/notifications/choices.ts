/** What users choose for themselves, as far as the app lets them. */
import { type TSchema, Type } from 'typebox'
import { GROUP_ACTIONS, Preferences } from './preferences.ts'
import type { Templates } from './templates.ts'
import { ChangesOf, overlay } from './tree.ts'

/** A choice, and the field of the app's preferences that it replaces: `<name>Setting`, if `<name>Override` is true. */
interface Choice {
  section: 'groupPreferences' | 'oneOnOnePreferences' | 'mutePreferences'
  field: string
  of: 'group' | 'oneOnOne' | 'mute'
  name: string
}

const MESSAGES = ['messages', 'replies', 'reactions']

const prefixed = (of: 'group' | 'oneOnOne', names: readonly string[]): Choice[] =>
  names.map((name) => ({
    section: `${of}Preferences` as const,
    field: `${of}${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    of,
    name,
  }))

const choices: readonly Choice[] = [
  ...prefixed('group', [...MESSAGES, ...GROUP_ACTIONS]),
  ...prefixed('oneOnOne', MESSAGES),
  ...['dnd', 'schedule', 'hold'].map((field): Choice => {
    return { section: 'mutePreferences', field, of: 'mute', name: `${field}Preference` }
  }),
]

type Fields = Record<string, unknown>

/** Preferences in the shape in which users send them. */
export type UserPreferences = Record<Choice['section'], Fields> & { usePrivacyTemplate: boolean }
export type Choices = Partial<UserPreferences>

const schemaOf = ({ of, name }: Choice) =>
  (Preferences.properties[of].properties as Record<string, TSchema>)[`${name}Setting`] as TSchema

const Section = (section: Choice['section']) =>
  Type.Object(
    Object.fromEntries(
      choices
        .filter((choice) => choice.section === section)
        .map((choice) => [choice.field, schemaOf(choice)]),
    ),
    { additionalProperties: false },
  )

const shape = Type.Object(
  {
    groupPreferences: Section('groupPreferences'),
    oneOnOnePreferences: Section('oneOnOnePreferences'),
    mutePreferences: Section('mutePreferences'),
    usePrivacyTemplate: Type.Boolean({
      description: 'Whether notifications show no text of messages, if the app lets users choose.',
    }),
  },
  { additionalProperties: false, 'x-component': 'UserNotificationPreferences' },
)
export const UserPreferences = Type.Unsafe<UserPreferences>(shape)
export const NewChoices = Type.Unsafe<Choices>(ChangesOf(shape))

interface Settings {
  preferences: Preferences
  templates: Templates
}

const isAllowed = ({ preferences }: Settings, { of, name }: Choice) =>
  (preferences[of] as Fields)[`${name}Override`] === true

/** Earlier choices with new ones. What the app doesn't let users choose is left out. */
export function withChoices(settings: Settings, before: Choices, added: Choices): Choices {
  const allowed: Choices = {}
  for (const choice of choices) {
    const { section, field } = choice
    const value = added[section]?.[field]
    if (value === undefined || !isAllowed(settings, choice)) continue
    allowed[section] = { ...allowed[section], [field]: value }
  }
  if (added.usePrivacyTemplate !== undefined && settings.templates.usePrivacyTemplate === 3)
    allowed.usePrivacyTemplate = added.usePrivacyTemplate
  return overlay(shape, before, allowed)
}

/** What holds for a user, in the shape of the app's settings. */
export function settingsOfUser<S extends Settings>(settings: S, chosen: Choices): S {
  const changes: Partial<Record<Choice['of'], Fields>> = {}
  for (const choice of choices) {
    const { section, field, of, name } = choice
    const value = chosen[section]?.[field]
    if (value === undefined || !isAllowed(settings, choice)) continue
    changes[of] = { ...changes[of], [`${name}Setting`]: value }
  }
  const { usePrivacyTemplate: mode } = settings.templates
  const own = mode === 3 && chosen.usePrivacyTemplate
  return {
    ...settings,
    preferences: overlay(Preferences, settings.preferences, changes),
    templates: {
      ...settings.templates,
      usePrivacyTemplate: own === undefined || mode !== 3 ? mode : own ? 2 : 1,
    },
  }
}

/** The same in the shape in which users send it. */
export function preferencesOfUser(settings: Settings, chosen: Choices): UserPreferences {
  const { preferences, templates } = settingsOfUser(settings, chosen)
  const shown: UserPreferences = {
    groupPreferences: {},
    oneOnOnePreferences: {},
    mutePreferences: {},
    usePrivacyTemplate: templates.usePrivacyTemplate === 2,
  }
  for (const { section, field, of, name } of choices)
    shown[section][field] = (preferences[of] as Fields)[`${name}Setting`]
  return shown
}
