/** Tools that act through our own operations, as the user who asks: with the same rights, limits and sanctions. */
import { authorize } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import { settingOf } from '../../core/settings.ts'
import type { Deps, JobDeps } from '../../deps.ts'
import { actingUser } from '../../gate/acting-user.ts'
import { servedApp } from '../../gate/app-of-request.ts'
import { Credentials } from '../../gate/credentials.ts'
import { redactError } from '../../gate/redact.ts'
import { inTurn, laneWork } from '../../gate/turn.ts'
import { Limiter } from '../../platform/cache/limiter.ts'
import { ApiError, fail } from '../../platform/http/fail.ts'
import { refusalOf } from '../../platform/http/refusal.ts'
import { pageOfMembers } from '../groups/members.page.ts'
import { listMessages } from '../history/list.page.ts'
import { sendMessage } from '../messages/send.actions.ts'
import { type Arguments, shorten, type ToolResult } from './api-tools.ts'
import { findModeration } from './queries.ts'
import type { QuestionRow } from './runs.queries.ts'
import { HAND_OVER, type ServiceTool, type ServiceToolName } from './schema.ts'

const FOUND = 20
const MEMBERS = 100
const RESULT_BYTES = 32_000
/** Messages with such an id start no runs, or agents could write to themselves without end. */
export const TOOL_MUID = 'agent-tool-'

/** Whose question makes the agent call. */
interface Question {
  job: JobDeps
  appNo: number
  question: QuestionRow
}

interface Acting {
  deps: Deps
  actor: Actor
  /** The agent for whom the user acts. */
  agent: string
  /** Id of the message with the question. */
  question: string
  /** The same for all attempts of a call. */
  key: string
}

export interface ServiceToolSpec {
  displayName: string
  description: string
  parameters: {
    type: 'object'
    properties: object
    required: string[]
    additionalProperties: false
  }
  /** Whether it changes something. */
  writes: boolean
  act(acting: Acting, args: Arguments): Promise<unknown>
}

const text = (description: string, maxLength = 200) => ({
  ...{ type: 'string', minLength: 1, maxLength, description },
})

const parameters = (properties: object, required: string[]) => ({
  ...{ type: 'object' as const, properties, required, additionalProperties: false as const },
})

export const SERVICE_TOOLS: Record<ServiceToolName, ServiceToolSpec> = {
  search_messages: {
    displayName: 'Search messages',
    description: `Finds the newest ${FOUND} messages in the conversations of the user who asks, oldest first.`,
    parameters: parameters(
      {
        text: text('What the messages contain.'),
        conversationId: text('Only messages of this conversation.', 300),
      },
      ['text'],
    ),
    writes: false,
    async act({ actor, question }, { text: searchKey, conversationId }) {
      authorize(actor, { features: ['listMessages'], permission: 'listMessages' })
      const { data } = await listMessages(actor, {
        ...{ searchKey: String(searchKey), category: 'message', limit: FOUND, affix: 'prepend' },
        ...(conversationId !== undefined && {
          conversationId: String(conversationId).toLowerCase(),
        }),
      } as Parameters<typeof listMessages>[1])
      const others = (data as Found[]).filter(({ id }) => id !== question)
      return others.map((found) => ({
        ...{ id: found.id, conversationId: found.conversationId, sender: found.sender },
        ...{ sentAt: found.sentAt, text: found.data?.text },
      }))
    },
  },
  list_members: {
    displayName: 'List members',
    description: `Lists up to ${MEMBERS} members of a group of the user who asks.`,
    parameters: parameters({ guid: text('GUID of the group.', 100) }, ['guid']),
    writes: false,
    async act({ deps, actor }, { guid }) {
      authorize(actor, { features: ['listGroupMembers'] })
      const query = { page: 1, perPage: MEMBERS } as Parameters<typeof pageOfMembers>[4]
      const own = String(guid).toLowerCase()
      const { data } = await pageOfMembers(deps, deps.starts, actor, own, query)
      return (data as Member[]).map(({ uid, name, scope }) => ({ uid, name, scope }))
    },
  },
  send_message: {
    displayName: 'Send a message',
    description: 'Sends a text to a user or a group, in the name of the user who asks.',
    parameters: parameters(
      {
        receiver: text('UID of the user, or GUID of the group.', 100),
        receiverType: { type: 'string', enum: ['user', 'group'] },
        text: text('What to send.', 5_000),
      },
      ['receiver', 'receiverType', 'text'],
    ),
    writes: true,
    async act({ deps, actor, agent, key }, args) {
      authorize(actor, { permission: 'sendMessage' })
      const sent = await sendMessage(deps, actor, {
        receiver: String(args.receiver).toLowerCase(),
        receiverType: args.receiverType as 'user' | 'group',
        ...{ category: 'message', type: 'text', muid: `${TOOL_MUID}${key}` },
        data: { text: String(args.text), metadata: { sentByAgent: agent } },
      })
      const { id, conversationId } = JSON.parse(sent).data
      return { id, conversationId }
    },
  },
  [HAND_OVER]: {
    displayName: 'Hand over to a person',
    description:
      'Hands this conversation to a person, who answers from now on. You say nothing more after the message.',
    parameters: parameters(
      {
        message: text('What to tell the user now, for example that a person will answer.', 2_000),
        reason: text('What the person should know. The user does not read it.', 1_000),
      },
      ['message'],
    ),
    // Not by itself: the run hands over when it ends, together with the message.
    writes: false,
    act: async () => 'A person answers from now on.',
  },
}

interface Found {
  id: string
  conversationId: string
  sender: string
  sentAt: number
  data?: { text?: string }
}
interface Member {
  uid: string
  name: string
  scope: string
}

/** Each process has one of each, because both keep what they have read. */
const means = new WeakMap<Deps, { credentials: Credentials; limiter: Limiter }>()

function meansOf(deps: Deps) {
  const known = means.get(deps)
  if (known) return known
  const made = { credentials: new Credentials(deps), limiter: new Limiter(deps.cache) }
  means.set(deps, made)
  return made
}

/** Whether a call needs the approval of the user: by default, if it changes something. */
export const needsApproval = ({ name, requiresApproval }: ServiceTool) =>
  requiresApproval ?? SERVICE_TOOLS[name].writes

/** Acts as the user who asks. What is refused is a result for the model, without more than the user would learn. */
export async function callServiceTool(
  { job, appNo, question }: Question,
  name: ServiceToolName,
  args: Arguments,
  key: string,
): Promise<ToolResult> {
  const { deps, cell } = job
  let actor: Actor | undefined
  try {
    const { app_id: appId } = await findModeration.one(cell.db, { appNo })
    const app = servedApp(await deps.directory.find(appId), appId, undefined)
    const { credentials, limiter } = meansOf(deps)
    actor = await actingUser(credentials, app, question.uid)
    const limit = Number(settingOf(actor.settings, 'rate.user'))
    // The same as for the user's devices.
    const { allowed } = await limiter.take(`${appNo}:user:${question.uid}`, limit)
    if (!allowed) throw fail('ERR_TOO_MANY_REQUESTS', { limit })
    const { agent_uid: agent, message_id: id } = question
    const acting = { deps, actor, agent, question: String(id), key }
    const { writes, act } = SERVICE_TOOLS[name]
    const work = laneWork(app, actor.settings, { class: 'list', operation: `agent ${name}` })
    // As in the API: reads wait for their app's turn, and sends have a queue of their own.
    const result = await (writes ? act(acting, args) : inTurn(deps, work, () => act(acting, args)))
    return { text: shorten(JSON.stringify(result), RESULT_BYTES), failed: false }
  } catch (error) {
    const guid = args.receiverType === 'group' ? args.receiver : args.guid
    const shown = await redactError(actor, error, {
      guid: typeof guid === 'string' ? guid.toLowerCase() : undefined,
    })
    const refusal = shown instanceof ApiError ? shown : refusalOf(shown)
    if (!refusal || refusal.status >= 500) throw error
    return { text: `${refusal.code}: ${refusal.message}`, failed: true }
  }
}
