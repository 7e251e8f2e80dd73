/** Statements that send, and those to compare with, as `instructions` counts them. */
import { callStatement, type Plain, sendsTogether, toCall } from './send-calls.ts'
import { insertInto, type SendData, sendStatement } from './send-data.ts'

/** A statement to prepare, and to execute with other arguments each time. */
export interface Statement {
  types: string
  text: string
  args: (nth: number) => string
  /** How many messages one execution sends. */
  messages: number
}

const TOGETHER = 16

const EMPTY: Statement = { types: 'int', text: 'select $1', args: String, messages: 1 }

/** By name, those to compare with first. A message is sent by the function that the service uses for one. */
export async function sendStatements(
  data: SendData,
  members: number,
): Promise<Record<string, Statement>> {
  const [pairs, toGroups] = [data.pairs, data.toGroups(members)]
  const [one, many] = ['a 1:1 message', `a message to a group of ${members}`]
  const bare = {
    'a one-row insert': { ...EMPTY, text: insertInto('$1') },
    'an empty statement': EMPTY,
  }
  if (!(await sendsTogether(data.client)))
    return { ...bare, [one]: single(pairs), [many]: single(toGroups) }
  return {
    ...bare,
    [one]: call(pairs, 1),
    [`${one} in a call of ${TOGETHER}`]: call(pairs, TOGETHER),
    [many]: call(toGroups, 1),
    [`${one} by send_message`]: single(pairs),
  }
}

const quoted = (text: string) => `'${text}'`

function single(messages: Plain[]): Statement {
  const { app = 0, kind = 'user' } = messages[0] ?? {}
  return {
    types: 'text, text',
    text: sendStatement(String(app), quoted(kind), '$1', '$2'),
    args: (nth) => {
      const { sender = '', receiver = '' } = messages[nth % messages.length] ?? {}
      return `${quoted(sender)}, ${quoted(receiver)}`
    },
    messages: 1,
  }
}

function call(messages: Plain[], size: number): Statement {
  const calls = Math.floor(messages.length / size)
  return {
    types: 'json',
    text: callStatement('$1'),
    args: (nth) => {
      const from = (nth % calls) * size
      return quoted(toCall(messages.slice(from, from + size)))
    },
    messages: size,
  }
}
