/** What the model gets: the instruction of the agent, and the thread up to the question. */
import { compileRules } from '../../core/access/rules.ts'
import { isShown, type MessageLimits, messageLimits } from '../../core/access/visible.ts'
import type { ChatTurn } from '../../core/models/prompt.ts'
import { findServedSettings } from '../../gate/queries.ts'
import type { Executor } from '../../platform/db/query.ts'
import { listBlocks } from './blocks.queries.ts'
import type { NewAgentVariable } from './blocks.schema.ts'
import { listThread, type QuestionRow } from './runs.queries.ts'

/** How much of a thread the model reads: so many messages before the question, and so many bytes. */
const MESSAGES = 40
const BYTES = 48_000
/** Users can set their own metadata, so a value is one short line. */
const VALUE_LENGTH = 500

const EVERY = { newer: false, after: null, before: null, limit: 1_000 }

/**
 * Only messages of this thread that the asking user sees. Answers to earlier questions come before the question, even if
 * they were sent after it, but in a replay not those that were sent after the start of the run.
 */
export async function readTurns(
  db: Executor,
  appNo: number,
  question: QuestionRow,
  until: Date | null = null,
): Promise<ChatTurn[]> {
  const { message_id: id, conversation, guid, thread_id: thread, agent_uid: agent, uid } = question
  const before = await listThread.many(db, {
    ...{ appNo, conversation, thread, question: id, agent, guid, uid, until, limit: MESSAGES },
  })
  const limits = before.length > 0 ? await limitsOf(db, appNo, question) : undefined
  const turns: ChatTurn[] = []
  let left = BYTES - Buffer.byteLength(question.text)
  for (const { id: sent, sender, text, ...kind } of before) {
    if (!isShown(limits, kind)) continue
    left -= Buffer.byteLength(text)
    if (left < 0) break
    const isAnswer = sender === agent
    const said = isAnswer || guid === null ? text : saidBy(sender, text)
    turns.unshift({ role: isAnswer ? 'assistant' : 'user', text: said, id: String(sent) })
  }
  // A conversation begins with its user.
  while (turns[0]?.role === 'assistant') turns.shift()
  const asked = guid === null ? question.text : saidBy(uid, question.text)
  return [...turns, { role: 'user', text: asked, id: String(id) }]
}

/** Which messages the role of the asking user may see. Otherwise the agent could tell what the others say. */
async function limitsOf(
  db: Executor,
  appNo: number,
  { role }: QuestionRow,
): Promise<MessageLimits | undefined> {
  const app = await findServedSettings.maybeOne(db, { appNo })
  return messageLimits(compileRules(app?.rules ?? []).get(role))
}

/** In a group, the model has to tell members apart: tools act for the one who asks. */
const saidBy = (uid: string, text: string) => `${uid} says:\n${text}`

/** The values of the app's variables for a question, by name. */
export async function readVariables(
  db: Executor,
  appNo: number,
  question: QuestionRow,
): Promise<Map<string, string>> {
  const rows = await listBlocks.many(db, { appNo, kind: 'variable', ...EVERY })
  return new Map(
    rows.map(({ slug, definition }) => [
      slug,
      line(sourced(definition as NewAgentVariable, question)),
    ]),
  )
}

/** What texts can say about the user who asks. */
export const senderOf = ({ uid, name, role }: QuestionRow): Record<string, string> => ({
  ...{ uid: line(uid), name: line(name), role: line(role) },
})

/** The instruction with the values of its variables. */
export function fillInstruction(
  instruction: string | undefined,
  question: QuestionRow,
  variables: Map<string, string>,
): string | undefined {
  const sender = senderOf(question)
  // One pass: a value that looks like a variable isn't one.
  return instruction?.replace(
    /@var-auth:sender\.(uid|name|role)|@var-custom:([a-zA-Z][a-zA-Z0-9_.]*)/g,
    (all, field: string | undefined, key = '') => {
      if (field !== undefined) return sender[field] ?? ''
      // A sentence may end after the name.
      const slug = variables.has(key) ? key : key.replace(/\.+$/, '')
      const value = variables.get(slug)
      return value === undefined ? all : value + key.slice(slug.length)
    },
  )
}

function sourced(variable: NewAgentVariable, { metadata, data }: QuestionRow): unknown {
  const { sourceType, sourcePath = '', constantValue, defaultValue } = variable
  if (sourceType === 'constant') return constantValue ?? defaultValue
  let value: unknown = sourceType === 'user_metadata' ? metadata : data.metadata
  for (const part of sourcePath.split('.')) {
    const within = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
    value = within ? (value as Record<string, unknown>)[part] : undefined
  }
  return value ?? defaultValue
}

/** One line of text; objects and nothing are left out. */
export const line = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).replace(/\s+/g, ' ').slice(0, VALUE_LENGTH)
    : ''
