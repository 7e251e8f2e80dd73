/** How an app's emails look, and in which language they are. */
import { type Static, Type } from 'typebox'
import { LANGUAGES } from './strings.ts'

const HttpsUrl = (description: string) =>
  Type.String({ maxLength: 1_000, pattern: '^(https://[^\\s"<>]+)?$', default: '', description })

export const EmailDesign = Type.Object(
  {
    appName: Type.String({
      ...{ maxLength: 100, default: '' },
      description: "Your product's name. Empty: the sender's name.",
    }),
    logoUrl: HttpsUrl('Logo above the messages, shown 32 pixels high. Empty: the name as text.'),
    accentColor: Type.String({
      ...{ pattern: '^#[0-9a-fA-F]{6}$', default: '#b5500f' },
      description: 'Color of the button, as `#rrggbb`.',
    }),
    openUrl: HttpsUrl(
      'Where the button leads: a page of yours. `{{conversationId}}`, `{{type}}` (`user` or `group`), `{{id}}` (UID or GUID) and `{{messageId}}` are filled in. Empty: no button.',
    ),
    language: Type.Enum([...LANGUAGES], {
      default: 'en',
      description: 'Language of the texts around messages, and of dates.',
    }),
    footer: Type.String({
      ...{ maxLength: 500, default: '' },
      description: 'Text at the end, such as your postal address.',
    }),
  },
  { additionalProperties: false, 'x-component': 'EmailDesign' },
)
export type EmailDesign = Static<typeof EmailDesign>
