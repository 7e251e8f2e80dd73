import { type Static, Type } from 'typebox'
import { EmailDesign } from '../../core/notifications/mail/design.ts'
import { Preferences } from '../../core/notifications/preferences.ts'
import { Templates } from '../../core/notifications/templates.ts'
import { ChangesOf, type Changes as Some } from '../../core/notifications/tree.ts'

const SoundFile = Type.String({
  minLength: 1,
  maxLength: 100,
  default: 'default',
  description: 'Name of a file that is bundled with the client app.',
})

/** The settings of an app, and what of them holds for a user. */
export const NotificationSettings = Type.Object(
  {
    preferences: Preferences,
    sound: Type.Object({ chat: SoundFile, call: SoundFile }, { additionalProperties: false }),
    templates: Templates,
    emailDesign: EmailDesign,
  },
  { additionalProperties: false, 'x-component': 'NotificationSettings' },
)
export type NotificationSettings = Static<typeof NotificationSettings>

export const SettingsChanges = ChangesOf(NotificationSettings)
export type SettingsChanges = Some<NotificationSettings>
