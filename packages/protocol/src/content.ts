/** The content of messages, as OpenAPI and the SDK describe it. */
import { type TProperties, Type } from 'typebox'
import { ByName } from './records.ts'

/** Clients may add fields of their own. */
const open = { additionalProperties: true }

const Text = Type.Optional(Type.String())

/** The types of messages with files. */
export const MEDIA_TYPES = ['image', 'file', 'audio', 'video'] as const

const fileFields = { name: Text, mimeType: Text, extension: Text }
const url = Type.String({
  description:
    'URL of a file on any host, or `/v3/files/{id}` for a file that was uploaded here. The service then sets the other fields.',
})
const bytes = { description: 'Size in bytes.' }

export const Attachment = Type.Object(
  { url, ...fileFields, size: Type.Optional(Type.String(bytes)) },
  { ...open, 'x-component': 'Attachment' },
)

/** As clients send it. */
export const NewAttachment = Type.Object(
  { url, ...fileFields, size: Type.Optional(Type.Union([Type.String(), Type.Number()], bytes)) },
  { ...open, 'x-component': 'NewAttachment' },
)

const ElementAction = Type.Object(
  {
    actionType: Type.Enum(['apiAction', 'urlNavigation', 'deepLinkAction', 'customAction']),
    url: Text,
    method: Text,
    payload: Type.Optional(ByName(Type.Unknown())),
    headers: Type.Optional(ByName(Type.Unknown())),
    dataKey: Text,
  },
  { ...open, 'x-component': 'ElementAction' },
)

const Element = Type.Object(
  {
    elementType: Type.Enum([
      ...['label', 'textInput', 'button', 'checkbox'],
      ...['dropdown', 'radio', 'singleSelect', 'dateTime'],
    ]),
    elementId: Type.String({ description: 'Unique within the message.' }),
    label: Text,
    optional: Type.Optional(Type.Boolean({ description: 'Default: true.' })),
    defaultValue: Type.Optional(Type.Unknown()),
    options: Type.Optional(
      Type.Array(Type.Object({ value: Type.String(), label: Type.String() }, open)),
    ),
    placeholder: Type.Optional(Type.Object({ text: Text }, open)),
    maxLines: Type.Optional(Type.Number()),
    mode: Text,
    dateTimeFormat: Text,
    timezoneCode: Text,
    from: Text,
    to: Text,
    buttonText: Text,
    disableAfterInteracted: Type.Optional(Type.Boolean()),
    action: Type.Optional(ElementAction),
  },
  {
    ...open,
    'x-component': 'InteractiveElement',
    description: 'A part of an interactive message.',
  },
)

const Time = Type.String({ pattern: '^([01]\\d|2[0-3])[0-5]\\d$|^2400$', description: '`HHMM`.' })
const TimeSpan = Type.Object({ from: Time, to: Time }, { ...open, 'x-component': 'TimeSpan' })

const Form = Type.Object(
  { title: Text, text: Text, formFields: Type.Array(Element), submitElement: Element },
  { ...open, 'x-component': 'Form' },
)

const Card = Type.Object(
  { imageUrl: Text, text: Text, cardActions: Type.Optional(Type.Array(Element)) },
  { ...open, 'x-component': 'Card' },
)

const Scheduler = Type.Object(
  {
    title: Type.String(),
    avatarUrl: Type.String(),
    bufferTime: Type.Number({ description: 'Minutes between two appointments.' }),
    icsFileUrl: Type.String(),
    availability: ByName(Type.Union([TimeSpan, Type.Array(TimeSpan)]), {
      description: 'Times by weekday.',
    }),
    timezoneCode: Type.String(),
    duration: Type.Number({ description: 'Minutes.' }),
    scheduleElement: Element,
    goalCompletionText: Type.String(),
    dateRangeStart: Type.String(),
    dateRangeEnd: Type.String(),
  },
  { ...open, 'x-component': 'Scheduler' },
)

const interactive = {
  form: Form,
  card: Card,
  scheduler: Scheduler,
  customInteractive: ByName(Type.Unknown(), { description: 'Any object.' }),
}
export type InteractiveType = keyof typeof interactive

const goalOf = (type: InteractiveType) =>
  Type.Object(
    {
      type: Type.Optional(
        Type.Enum([type === 'scheduler' ? 'anyAction' : 'anyOf', 'allOf', 'oneOf', 'none'], {
          description: 'Default: `none`.',
        }),
      ),
      elementIds: Type.Optional(Type.Array(Type.String())),
    },
    { ...open, description: 'Which elements must be used to complete the interaction.' },
  )

/** A content: the field that every message of its kind has, and other fields. */
export interface Content {
  main: TProperties
  more: TProperties
}

const metadata = Type.Optional(ByName(Type.Unknown(), { description: 'Your own data.' }))

export const textContent: Content = {
  main: { text: Type.String({ description: 'The text. `<@uid:UID>` mentions a user.' }) },
  more: { metadata },
}

export const mediaContent = (attachment: typeof Attachment | typeof NewAttachment): Content => ({
  main: { attachments: Type.Array(attachment, { minItems: 1 }) },
  more: { text: Type.Optional(Type.String({ description: 'The caption.' })), metadata },
})

export const customContent: Content = {
  main: { customData: ByName(Type.Unknown(), { description: 'The content, in your own format.' }) },
  more: { metadata },
}

export const interactiveContent = (type: InteractiveType): Content => ({
  main: { interactiveData: interactive[type] },
  more: {
    interactionGoal: Type.Optional(goalOf(type)),
    allowSenderInteraction: Type.Optional(
      Type.Boolean({ description: 'Whether the sender may interact too. Default: false.' }),
    ),
    metadata,
  },
})

/** The type of a custom message. The types of the other categories are fixed. */
export const CustomType = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'A name of your choice.',
})
