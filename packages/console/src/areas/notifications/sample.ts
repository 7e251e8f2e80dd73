/** What a preview of a template shows. */

export type TemplateKind =
  | 'textMessage'
  | 'mediaMessage'
  | 'customMessage'
  | 'interactiveForm'
  | 'interactiveCard'
  | 'interactiveScheduler'
  | 'interactiveCustom'
  | 'emailSubject'
  | 'smsContent'
  | 'heldMessages'

const entities = {
  sender: { entity: { uid: 'ben', name: 'Ben Okafor' } },
  receiver: { entity: { guid: 'ward-3', name: 'Ward 3' } },
}
const message = (category: string, type: string, data: object) => ({
  message: { id: '1', category, type, sender: 'ben', data: { ...data, entities } },
})
const batch = {
  to: { uid: 'amira', name: 'Amira Haddad' },
  messages: [{}, {}, {}],
  senderDetails: { uid: 'ben', name: 'Ben Okafor' },
  groupDetails: { guid: 'ward-3', name: 'Ward 3' },
}

export const SAMPLES: Record<TemplateKind, Record<string, unknown>> = {
  textMessage: message('message', 'text', { text: 'Who has the keys to the second floor?' }),
  mediaMessage: message('message', 'image', { text: 'The view from Ward 3' }),
  customMessage: message('custom', 'location', { customData: { place: 'Ward 3' } }),
  interactiveForm: message('interactive', 'form', { interactiveData: { title: 'Shift swap' } }),
  interactiveCard: message('interactive', 'card', { interactiveData: { text: 'Menu of the day' } }),
  interactiveScheduler: message('interactive', 'scheduler', {
    interactiveData: { title: 'Team meeting' },
  }),
  interactiveCustom: message('interactive', 'poll', { interactiveData: { title: 'Poll' } }),
  emailSubject: batch,
  smsContent: batch,
  heldMessages: { messages: batch.messages },
}

/** Fills in the placeholders as the server does, and says whether all of them had a value. */
export function fill(template: string, root: object): { text: string; complete: boolean } {
  let complete = true
  const text = template.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, path: string) => {
    const value = path
      .split('.')
      .reduce<unknown>(
        (at, name) =>
          typeof at === 'object' && at !== null && Object.hasOwn(at, name)
            ? (at as Record<string, unknown>)[name]
            : undefined,
        root,
      )
    const printed = ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : ''
    if (printed === '') complete = false
    return printed
  })
  return { text, complete }
}
