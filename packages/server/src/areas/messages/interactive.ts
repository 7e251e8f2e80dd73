import { fail } from '../../platform/http/fail.ts'

type Json = Record<string, unknown>
type Test = (value: unknown) => boolean

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText: Test = (value) => typeof value === 'string'
const isBoolean: Test = (value) => typeof value === 'boolean'
const isNumber: Test = (value) => typeof value === 'number'
const isOneOf =
  (...values: string[]): Test =>
  (value) =>
    values.includes(value as string)
const isList =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test)

/** An object whose keys, as far as they are there, fit; those named must be there. */
const isLike =
  (fields: Record<string, Test>, ...required: string[]): Test =>
  (value) =>
    isObject(value) &&
    required.every((key) => value[key] !== undefined) &&
    Object.entries(fields).every(([key, test]) => value[key] === undefined || test(value[key]))

const isAction = isLike(
  {
    actionType: isOneOf('apiAction', 'urlNavigation', 'deepLinkAction', 'customAction'),
    url: isText,
    method: isText,
    payload: isObject,
    headers: isObject,
    dataKey: isText,
  },
  'actionType',
)

const isElement = isLike(
  {
    elementType: isOneOf(
      ...['label', 'textInput', 'button', 'checkbox'],
      ...['dropdown', 'radio', 'singleSelect', 'dateTime'],
    ),
    elementId: isText,
    label: isText,
    optional: isBoolean,
    options: isList(isLike({ value: isText, label: isText }, 'value', 'label')),
    placeholder: isLike({ text: isText }),
    maxLines: isNumber,
    mode: isText,
    dateTimeFormat: isText,
    timezoneCode: isText,
    from: isText,
    to: isText,
    buttonText: isText,
    disableAfterInteracted: isBoolean,
    action: isAction,
  },
  'elementType',
  'elementId',
)

const isTime: Test = (value) =>
  isText(value) && /^([01]\d|2[0-3])[0-5]\d$|^2400$/.test(String(value))
const isSpan = isLike({ from: isTime, to: isTime }, 'from', 'to')
const isAvailability: Test = (value) =>
  isObject(value) && Object.values(value).every((day) => isSpan(day) || isList(isSpan)(day))

const scheduler: Record<string, Test> = {
  title: isText,
  avatarUrl: isText,
  bufferTime: isNumber,
  icsFileUrl: isText,
  availability: isAvailability,
  timezoneCode: isText,
  duration: isNumber,
  scheduleElement: isElement,
  goalCompletionText: isText,
  dateRangeStart: isText,
  dateRangeEnd: isText,
}

const shapes: Record<string, Test> = {
  form: isLike(
    { title: isText, text: isText, formFields: isList(isElement), submitElement: isElement },
    'formFields',
    'submitElement',
  ),
  card: isLike({ imageUrl: isText, text: isText, cardActions: isList(isElement) }),
  scheduler: isLike(scheduler, ...Object.keys(scheduler)),
  customInteractive: isObject,
}

const isGoal = (type: string) =>
  isLike({
    type: isOneOf(type === 'scheduler' ? 'anyAction' : 'anyOf', 'allOf', 'oneOf', 'none'),
    elementIds: isList(isText),
  })

/** Fails unless the parts of an interactive message fit its type. */
export function checkInteractive(type: string, data: Json): void {
  const { interactiveData, interactionGoal, allowSenderInteraction } = data
  const fits =
    shapes[type]?.(interactiveData) &&
    (interactionGoal === undefined || isGoal(type)(interactionGoal)) &&
    (allowSenderInteraction === undefined || isBoolean(allowSenderInteraction))
  if (!fits) throw fail('ERR_INVALID_MESSAGE_DATA')
}

/** The ids of all elements, wherever they stand, and of those that its goal names. */
export function elementIdsOf({ interactiveData, interactionGoal }: Json): Set<string> {
  const ids = new Set<string>()
  const parts = [interactiveData]
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) continue
    for (const [key, value] of Object.entries(part)) {
      if (key === 'elementId' && typeof value === 'string') ids.add(value)
      else parts.push(value)
    }
  }
  const { elementIds = [] } = (interactionGoal ?? {}) as { elementIds?: string[] }
  for (const id of elementIds) ids.add(id)
  return ids
}
