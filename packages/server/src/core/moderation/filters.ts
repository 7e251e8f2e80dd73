/** Whom a rule concerns. All filters of a rule must match. */

/** The spellings in which rules are stored. */
export const OPERATORS = [
  'equals',
  'notEquals',
  'in',
  'notIn',
  'startsWith',
  'endsWith',
  'lessThan',
  'greaterThan',
] as const
export type Operator = (typeof OPERATORS)[number]

export const USER_OPERANDS = ['uid', 'name', 'role', 'tags', 'createdAt'] as const
export const GROUP_OPERANDS = ['guid', 'name', 'type', 'tags', 'createdAt'] as const
export type Operand = (typeof USER_OPERANDS)[number] | (typeof GROUP_OPERANDS)[number]

export interface Filter {
  type: 'sender' | 'receiver'
  entity: 'user' | 'group'
  operand: Operand
  operator: Operator
  value: (string | number)[]
}

/** What filters ask about a user or group. */
export interface Facts {
  name: string
  role: string | null
  type: string | null
  tags: readonly string[]
  /** Unix seconds. */
  createdAt: number
}

/** The two sides of a message, without anything that must be read. */
export interface Addressed {
  sender: string
  kind: 'user' | 'group'
  receiver: string
}

export interface AllFacts {
  sender: Facts | undefined
  receiver: Facts | undefined
}

/** Whether a filter asks for more than ids. */
export const needsFacts = ({ operand }: Filter) => operand !== 'uid' && operand !== 'guid'

/** A filter about a receiving user matches no message to a group, and the reverse. */
export function matches(filter: Filter, message: Addressed, facts: AllFacts | undefined): boolean {
  const { type, entity, operand, operator, value } = filter
  if (type === 'receiver' && entity !== message.kind) return false
  const known = facts?.[type]
  const values =
    operand === 'uid' || operand === 'guid'
      ? [message[type]]
      : known
        ? valuesOf(known, operand)
        : []
  return compare(values, operator, value)
}

function valuesOf(facts: Facts, operand: Exclude<Operand, 'uid' | 'guid'>): (string | number)[] {
  const value = facts[operand]
  if (value === null) return []
  return typeof value === 'string' || typeof value === 'number' ? [value] : [...value]
}

/** Of several values, such as tags, one is enough; `notEquals` and `notIn` want none. */
function compare(
  values: (string | number)[],
  operator: Operator,
  wanted: readonly (string | number)[],
): boolean {
  const among = () => values.some((value) => wanted.some((one) => String(one) === String(value)))
  const any = (test: (value: string | number, one: string | number) => boolean) =>
    values.some((value) => wanted.some((one) => test(value, one)))
  switch (operator) {
    case 'equals':
    case 'in':
      return among()
    case 'notEquals':
    case 'notIn':
      return !among()
    case 'startsWith':
      return any((value, one) => String(value).startsWith(String(one)))
    case 'endsWith':
      return any((value, one) => String(value).endsWith(String(one)))
    case 'lessThan':
      return any((value, one) => Number(value) < Number(one))
    case 'greaterThan':
      return any((value, one) => Number(value) > Number(one))
  }
}
