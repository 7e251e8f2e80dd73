import { type GroupType, SCOPES, type Scope } from '@loquat/protocol'
import { type Action, type Context, chainOf, type Step } from '../../core/access/authorize.ts'
import { compileRules } from '../../core/access/rules.ts'
import type { Actor } from '../../core/actor.ts'
import { moderates, type Refusal, refuseOutside } from '../../core/policy.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { refusalOf } from '../../platform/http/refusal.ts'
import {
  type MemberState,
  refuseAdding,
  refuseDelete,
  refuseJoin,
  refuseLeaving,
  refuseModerating,
  refuseReading,
  refuseRemoval,
  refuseScope,
  refuseTransfer,
  refuseUnban,
  refuseUpdate,
} from '../groups/policy.ts'
import { checkMaySend } from '../messages/queries.ts'
import type { Explanation, Question } from './explain.schema.ts'
import { type FactRow, findFacts } from './queries.ts'

/** What rules say about an operation, by operationId. */
export type ActionsByOperation = ReadonlyMap<string, Action>

/** Whether a user may do something, with every rule that was looked at. It changes nothing. */
export async function explainPermission(
  { app }: Actor,
  actions: ActionsByOperation,
  question: Question,
): Promise<Explanation> {
  const { uid, guid = null, receiver = null } = question
  const declared = actions.get(question.action)
  if (!declared) {
    throw badRequest({
      action: ['action must be the operationId of an operation that users can call'],
    })
  }
  const db = app.cell.db
  const facts = await findFacts.maybeOne(db, { appNo: app.no, uid, guid, receiver })
  if (!facts) throw fail('ERR_UID_NOT_FOUND', { uid })
  if (receiver !== null && facts.other_role === null)
    throw fail('ERR_UID_NOT_FOUND', { uid: receiver })
  if (guid !== null && facts.group_type === null) throw fail('ERR_GUID_NOT_FOUND', { guid })
  const policy = compileRules(facts.rules ?? []).get(facts.role)
  const context = contextOf(question, facts)
  const chain: (Step | BuiltIn)[] = chainOf(policy, usedBy(declared, question), context)
  // A message that the role may not see can't be changed either.
  if (CHANGES.includes(question.action))
    chain.push(...chainOf(policy, { permission: 'listMessages' }, context))
  chain.push(...(await builtIn(app, question, facts)))
  const decidedBy = chain.find(({ allows }) => !allows)
  return {
    allowed: decidedBy === undefined,
    role: facts.role,
    ...(facts.scope !== null && { scope: facts.scope }),
    ...(decidedBy && { decidedBy: toStep(decidedBy) }),
    chain: chain.map(toStep),
  }
}

const CHANGES = ['updateMessage', 'deleteMessage']

type BuiltIn = Omit<Step, 'layer'> & { layer: 'built-in' }

const toStep = (step: Step | BuiltIn) => ({
  ...step,
  value: typeof step.value === 'string' ? step.value : [...step.value],
})

/** Of several features, those that this request would use. */
function usedBy(
  action: Action,
  { action: operation, uid, guid, receiver, several, message }: Question,
): Action {
  const unused = [
    ...(operation === 'sendMessage' && !message?.reply ? ['createMessageThread'] : []),
    ...(operation === 'getUser' ? [receiver === uid ? 'getUser' : 'getMyDetails'] : []),
    ...(operation === 'deleteMessage' && guid === undefined ? ['deleteGroupMessages'] : []),
    ...(operation === 'addMembers' ? ['ban'] : []),
    // Whoever may not add members can still create a group.
    ...(operation === 'createGroup' ? ['addMember', 'ban'] : []),
    ...(several ? [] : ['massMemberOperate']),
  ]
  const features = action.features?.filter((feature) => !unused.includes(feature)) ?? []
  const { scopePermission: declared, ...ofRole } = action
  const scopePermission =
    operation === 'sendMessage' && message?.reply ? 'sendThreadedMessage' : declared
  const inGroup = guid !== undefined && scopePermission && { scopePermission }
  return { ...ofRole, features, ...inGroup }
}

function contextOf({ guid, receiver, groupType, message }: Question, facts: FactRow): Context {
  return {
    ...(groupType && { groupType }),
    ...(guid !== undefined && {
      receiverType: 'group' as const,
      groupType: facts.group_type ?? undefined,
      scope: facts.scope,
      scopeRules: facts.scope_rules,
    }),
    ...(receiver !== undefined && {
      ...(guid === undefined && { receiverType: 'user' as const }),
      otherRole: facts.other_role ?? undefined,
      otherScope: facts.other_scope ?? undefined,
      friend: facts.friend,
    }),
    ...message,
  }
}

interface Place {
  guid: string
  type: GroupType
  /** The member whom the action is about. */
  other: MemberState | undefined
}

const orModerating =
  (rule: (acting: MemberState, target: MemberState) => Refusal) =>
  (acting: MemberState, { other }: Place): Refusal =>
    other ? rule(acting, other) : refuseModerating(acting)

const refusePinning = (state: MemberState): Refusal =>
  refuseOutside(state) ?? (moderates(state) ? undefined : fail('ERR_PERMISSION_DENIED'))

const OF_GROUP: Record<string, (state: MemberState, place: Place) => Refusal> = {
  ...Object.fromEntries(
    [
      ...['listMembers', 'getMember', 'getGroupConversation', 'listGroupMessages'],
      ...['listGroupMessagesPinned', 'getMessage', 'updateMessage', 'deleteMessage'],
      ...['listMessageReceipts', 'listMessageReactions', 'listMessageReactionsByValue'],
      ...['addMessageReaction', 'removeMessageReaction', 'saveMessage', 'unsaveMessage'],
      ...['listThreadReplies', 'followThread', 'unfollowThread', 'markInteractions', 'flagMessage'],
    ].map((action) => [action, refuseOutside]),
  ),
  getGroup: (state, { type }) => refuseReading(state, type),
  updateGroup: refuseUpdate,
  deleteGroup: refuseDelete,
  joinGroup: refuseJoin,
  leaveGroup: refuseLeaving,
  transferGroup: (acting, { other }) =>
    refuseTransfer(acting, other ?? { ...acting, uid: '', owner: false }),
  addMembers: refuseAdding,
  // Whether any scope is possible.
  changeMemberScope: orModerating((acting, target) =>
    SCOPES.map((scope) => refuseScope(acting, target, scope)).reduce((one, next) => one && next),
  ),
  kickMember: orModerating(refuseRemoval),
  banUser: orModerating(refuseRemoval),
  unbanUser: orModerating(refuseUnban),
  listBannedUsers: refuseModerating,
  pinMessage: refusePinning,
  unpinMessage: refusePinning,
}

const SENDS = ['sendMessage', 'sendThreadReply']

/** The built-in rules that the question has enough facts for. */
async function builtIn(
  { no: appNo, cell }: Actor['app'],
  { action, uid, guid, receiver }: Question,
  facts: FactRow,
): Promise<BuiltIn[]> {
  const rule = OF_GROUP[action]
  if (rule && guid !== undefined) {
    const { scope, banned, owner } = facts
    const state = { uid, scope: scope as Scope | null, banned, owner, formerScope: null }
    const type = facts.group_type as GroupType
    return [stepOf(action, rule(state, { guid, type, other: otherOf(receiver, facts) }))]
  }
  const to = guid ?? receiver
  if (!SENDS.includes(action) || to === undefined) return []
  try {
    const kind = guid === undefined ? 'user' : 'group'
    await checkMaySend.one(cell.db, { appNo, kind, uid, receiver: to })
    return [stepOf(action, undefined)]
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return [stepOf(action, refusal)]
  }
}

const otherOf = (receiver: string | undefined, facts: FactRow): MemberState | undefined =>
  receiver === undefined
    ? undefined
    : {
        uid: receiver,
        scope: facts.other_scope as Scope | null,
        owner: facts.other_owner,
        banned: facts.other_banned,
        formerScope: facts.other_former as Scope | null,
      }

const stepOf = (action: string, refusal: Refusal): BuiltIn => ({
  layer: 'built-in',
  rule: refusal?.code ?? action,
  value: refusal?.message ?? 'allowed',
  explicit: false,
  allows: refusal === undefined,
})
