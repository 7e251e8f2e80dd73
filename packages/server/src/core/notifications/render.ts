/** Fills in the templates of notifications. A pure function of the templates and what they show. */
import type { Templates } from './templates.ts'

/** Longer texts are cut: a notification shows a few lines, and a payload has room for 4 KB. */
const LONGEST_TITLE = 200
const LONGEST_BODY = 2_000

export interface Texts {
  title: string
  body: string
}

/** What a template looks at of a message. */
export interface ShownMessage {
  category: string
  type: string
  receiverType: 'user' | 'group'
  [field: string]: unknown
}

const PLACEHOLDER = /\{\{\s*([\w.]+)\s*\}\}/g

/** A text with its placeholders filled in, and whether all of them had a value. What is filled in isn't looked at again. */
export function fill(template: string, root: object): { text: string; complete: boolean } {
  let complete = true
  const text = template.replace(PLACEHOLDER, (_, path: string) => {
    const value = valueAt(root, path)
    if (value === undefined) complete = false
    return value ?? ''
  })
  return { text, complete }
}

/** The printed value at a path such as `message.data.text`. Only own fields count, never those of prototypes. */
function valueAt(root: object, path: string): string | undefined {
  let value: unknown = root
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  const printed = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  return typeof printed === 'string' && printed !== '' ? printed : undefined
}

/** Cuts between characters as people see them, not within an emoji. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text
  let end = 0
  for (const { segment, index } of segmenter.segment(text.slice(0, longest + 100))) {
    if (index + segment.length > longest - 1) break
    end = index + segment.length
  }
  // A character that is too long by itself is cut anywhere but inside a surrogate pair, which no database would store.
  const cut = end > 0 ? text.slice(0, end) : text.slice(0, longest - 1).replace(HALF_A_PAIR, '')
  return `${cut}…`
}
const HALF_A_PAIR = /[\uD800-\uDBFF]$/
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

const MEDIA = ['image', 'audio', 'video', 'file'] as const
const INTERACTIVE: Record<string, 'Form' | 'Card' | 'Scheduler'> = {
  form: 'Form',
  card: 'Card',
  scheduler: 'Scheduler',
}

type Form = 'Default' | 'Privacy'

/** The titles of a message's template, and its body with what replaces it if a placeholder has no value. */
function templateOf(templates: Templates, form: Form, { category, type }: ShownMessage) {
  const media = MEDIA.find((name) => name === type)
  if (category === 'message' && media) {
    const { [`body_${media}` as const]: body, ...titles } = templates[`mediaMessageTemplate${form}`]
    return { ...titles, body }
  }
  if (category === 'custom') {
    const { body_fallback: fallback, ...rest } = templates[`customMessageTemplate${form}`]
    return { ...rest, fallback }
  }
  if (category === 'interactive')
    return templates[`interactive${INTERACTIVE[type] ?? 'Custom'}Template${form}`]
  return templates[`textMessageTemplate${form}`]
}

/** Answers of agents have HTML escaped, for clients that show Markdown. Notifications are plain text. */
function unescaped(message: ShownMessage): ShownMessage {
  const { text, ...data } = { text: '', ...(message.data as object) }
  if (message.category !== 'agentic') return message
  return { ...message, data: { ...data, text: text.replaceAll('&lt;', '<') } }
}

/** Title and body of the push about a message. `templates` are those that hold for the receiver. */
export function pushTexts(templates: Templates, given: ShownMessage): Texts {
  const message = unescaped(given)
  const form = templates.usePrivacyTemplate === 2 ? 'Privacy' : 'Default'
  const template: { titleOneOnOne: string; titleGroup: string; body: string; fallback?: string } =
    templateOf(templates, form, message)
  const { titleOneOnOne, titleGroup, fallback } = template
  const title = message.receiverType === 'group' ? titleGroup : titleOneOnOne
  const filled = fill(template.body, { message })
  const body = filled.complete || fallback === undefined ? filled : fill(fallback, { message })
  return {
    title: shortened(fill(title, { message }).text, LONGEST_TITLE),
    body: shortened(body.text, LONGEST_BODY),
  }
}

/** The subject of an email or the text of an SMS about unread messages of one conversation. */
export function batchText(
  templates: Templates,
  name: 'emailSubject' | 'smsContent',
  batch: { messages: unknown[]; groupDetails?: object; [field: string]: unknown },
): string {
  const form = templates.usePrivacyTemplate === 2 ? 'Privacy' : 'Default'
  const { oneOnOne, group } = templates[`${name}Template${form}`]
  return shortened(fill(batch.groupDetails ? group : oneOnOne, batch).text, LONGEST_BODY)
}
