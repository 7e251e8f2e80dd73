import { type Details, fail } from '../../platform/http/fail.ts'

type Json = Record<string, unknown>
/** What is wrong with a value, by its path; nothing if it is valid. */
type Check = (value: unknown, at: string) => [at: string, fault: string][]

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const must =
  (test: (value: unknown) => boolean, fault: string): Check =>
  (value, at) =>
    test(value) ? [] : [[at, fault]]

const text = must((value) => typeof value === 'string', 'must be a string')
const boolean = must((value) => typeof value === 'boolean', 'must be true or false')
const number = must((value) => typeof value === 'number', 'must be a number')
const object = must(isObject, 'must be an object')
const oneOf = (...values: string[]) =>
  must((value) => values.includes(value as string), `must be one of ${values.join(', ')}`)
const list =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value)
      ? value.flatMap((item, n) => check(item, `${at}[${n}]`))
      : [[at, 'must be a list']]

/** An object whose given fields are valid; the named ones are required. */
const like =
  (fields: Record<string, Check>, ...required: string[]): Check =>
  (value, at) => {
    if (!isObject(value)) return object(value, at)
    const missing = required.filter((key) => value[key] === undefined)
    const given = Object.entries(fields).filter(([key]) => value[key] !== undefined)
    return [
      ...missing.map((key): [string, string] => [`${at}.${key}`, 'is required']),
      ...given.flatMap(([key, check]) => check(value[key], `${at}.${key}`)),
    ]
  }

const action = like(
  {
    actionType: oneOf('apiAction', 'urlNavigation', 'deepLinkAction', 'customAction'),
    url: text,
    method: text,
    payload: object,
    headers: object,
    dataKey: text,
  },
  'actionType',
)

const element = like(
  {
    elementType: oneOf(
      ...['label', 'textInput', 'button', 'checkbox'],
      ...['dropdown', 'radio', 'singleSelect', 'dateTime'],
    ),
    elementId: text,
    label: text,
    optional: boolean,
    options: list(like({ value: text, label: text }, 'value', 'label')),
    placeholder: like({ text }),
    maxLines: number,
    mode: text,
    dateTimeFormat: text,
    timezoneCode: text,
    from: text,
    to: text,
    buttonText: text,
    disableAfterInteracted: boolean,
    action,
  },
  'elementType',
  'elementId',
)

const time = must(
  (value) => typeof value === 'string' && /^([01]\d|2[0-3])[0-5]\d$|^2400$/.test(value),
  'must be a time in the form HHMM',
)
const span = like({ from: time, to: time }, 'from', 'to')
const availability: Check = (value, at) =>
  isObject(value)
    ? Object.entries(value).flatMap(([day, spans]) =>
        (Array.isArray(spans) ? list(span) : span)(spans, `${at}.${day}`),
      )
    : object(value, at)

const scheduler: Record<string, Check> = {
  title: text,
  avatarUrl: text,
  bufferTime: number,
  icsFileUrl: text,
  availability,
  timezoneCode: text,
  duration: number,
  scheduleElement: element,
  goalCompletionText: text,
  dateRangeStart: text,
  dateRangeEnd: text,
}

const shapes: Record<string, Check> = {
  form: like(
    { title: text, text, formFields: list(element), submitElement: element },
    'formFields',
    'submitElement',
  ),
  card: like({ imageUrl: text, text, cardActions: list(element) }),
  scheduler: like(scheduler, ...Object.keys(scheduler)),
  customInteractive: object,
}

const partsOf = (type: string) =>
  like(
    {
      interactiveData: shapes[type] ?? object,
      interactionGoal: like({
        type: oneOf(type === 'scheduler' ? 'anyAction' : 'anyOf', 'allOf', 'oneOf', 'none'),
        elementIds: list(text),
      }),
      allowSenderInteraction: boolean,
    },
    'interactiveData',
  )

/** Enough errors to be useful. */
const MOST_FAULTS = 20

/** Fails unless the parts of an interactive message are valid for its type. */
export function checkInteractive(type: string, data: Json): void {
  const faults = partsOf(type)(data, 'data').slice(0, MOST_FAULTS)
  if (faults.length === 0) return
  const details: Details = Object.fromEntries(faults.map(([at, fault]) => [at, [`${at} ${fault}`]]))
  throw fail('ERR_INVALID_MESSAGE_DATA', {}, { details })
}

/** The ids of all elements at any depth, and of those that its goal names. */
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
