/** The texts of notifications. Each has a default form and one for privacy, which has no text of the message. */
import { type Static, type TSchema, Type } from 'typebox'

const Part = (initial: string) => Type.String({ maxLength: 1_000, default: initial })

const SENDER = '{{message.data.entities.sender.entity.name}}'
const titles = {
  titleOneOnOne: Part(SENDER),
  titleGroup: Part(`${SENDER} @ {{message.data.entities.receiver.entity.name}}`),
}

const Parts = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

const Message = (body: string) => Parts({ ...titles, body: Part(body) })
const Media = (texts: { image: string; audio: string; video: string; file: string }) =>
  Parts({
    ...titles,
    body_image: Part(texts.image),
    body_audio: Part(texts.audio),
    body_video: Part(texts.video),
    body_file: Part(texts.file),
  })
const Custom = (body: string, fallback: string) =>
  Parts({ ...titles, body: Part(body), body_fallback: Part(fallback) })
const Batch = (oneOnOne: string, group: string) =>
  Parts({ oneOnOne: Part(oneOnOne), group: Part(group) })

const NEW_MESSAGE = 'New message'
const media = { image: 'Image', audio: 'Audio', video: 'Video', file: 'File' }
const interactive = '{{message.data.interactiveData.title}}'
const several = 'You have {{messages.length}} new messages'

export const Templates = Type.Object(
  {
    usePrivacyTemplate: Type.Enum([1, 2, 3], {
      default: 3,
      description:
        '1: default templates for all. 2: privacy templates for all. 3: default templates, but users can choose the others.',
    }),
    textMessageTemplateDefault: Message('{{message.data.text}}'),
    textMessageTemplatePrivacy: Message(NEW_MESSAGE),
    mediaMessageTemplateDefault: Media(media),
    mediaMessageTemplatePrivacy: Media({
      image: NEW_MESSAGE,
      audio: NEW_MESSAGE,
      video: NEW_MESSAGE,
      file: NEW_MESSAGE,
    }),
    customMessageTemplateDefault: Custom('{{message.data.text}}', NEW_MESSAGE),
    customMessageTemplatePrivacy: Custom(NEW_MESSAGE, NEW_MESSAGE),
    interactiveFormTemplateDefault: Message(interactive),
    interactiveFormTemplatePrivacy: Message(NEW_MESSAGE),
    interactiveCardTemplateDefault: Message('{{message.data.interactiveData.text}}'),
    interactiveCardTemplatePrivacy: Message(NEW_MESSAGE),
    interactiveSchedulerTemplateDefault: Message(interactive),
    interactiveSchedulerTemplatePrivacy: Message(NEW_MESSAGE),
    interactiveCustomTemplateDefault: Message(NEW_MESSAGE),
    interactiveCustomTemplatePrivacy: Message(NEW_MESSAGE),
    emailSubjectTemplateDefault: Batch(
      `${several} from {{senderDetails.name}}`,
      `${several} in {{groupDetails.name}}`,
    ),
    emailSubjectTemplatePrivacy: Batch(several, several),
    smsContentTemplateDefault: Batch(
      `${several} from {{senderDetails.name}}`,
      `${several} in {{groupDetails.name}}`,
    ),
    smsContentTemplatePrivacy: Batch(several, several),
    heldMessagesTemplate: Type.Object(
      { title: Part('New messages'), body: Part(several) },
      {
        additionalProperties: false,
        description: 'One push after quiet hours. `{{messages.length}}` is how many messages came.',
      },
    ),
  },
  { additionalProperties: false, 'x-component': 'NotificationTemplates' },
)
export type Templates = Static<typeof Templates>
