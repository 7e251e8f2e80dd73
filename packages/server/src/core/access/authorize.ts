/**
 * Decides whether a user may do something: restrictions of the role first, then the role's permissions, then those of
 * the user's scope in the group. The built-in rules come last; they are in policy.ts of each area.
 *
 * Two rules are decided in SQL, under the lock of the conversation: `sendMessage.mode`, and what scopes may send
 * (`check_direct_send` and `check_group_send` in db/cell/functions/send.sql). Allow lists of lists are filters of the
 * lists themselves.
 */
import { type ApiError, fail } from '../../platform/http/fail.ts'
import type { Actor } from '../actor.ts'
import {
  type Feature,
  type PermissionValue,
  type RolePermission,
  rolePermissions,
  type ScopePermission,
  scopePermissions,
} from './definitions.ts'
import type { RolePolicy, StoredPermissions } from './rules.ts'

type Base<Name extends string> = Name extends `${infer First}.${string}` ? First : Name
/** A permission with all that belong to it: `sendMessage` stands for `sendMessage.mode` too. */
export type RoleAction = Base<RolePermission>
export type ScopeAction = Base<ScopePermission>

/** What an operation does, as rules name it. */
export interface Action {
  features?: readonly Feature[]
  permission?: RoleAction
  scopePermission?: ScopeAction
}

/** What is known about an action. A rule about something that isn't known doesn't decide. */
export interface Context {
  receiverType?: 'user' | 'group' | undefined
  /** Whether the other user is a friend of the acting one. */
  friend?: boolean | undefined
  /** The role of the other user. */
  otherRole?: string | undefined
  category?: string | undefined
  type?: string | undefined
  mimeTypes?: readonly string[] | undefined
  groupType?: string | undefined
  /** The acting user's scope in the group. */
  scope?: string | null | undefined
  /** The explicit permissions of that scope, if they bind the user. */
  scopeRules?: StoredPermissions | null | undefined
  /** The scope of the other member. */
  otherScope?: string | undefined
}

/** Whether a value of a permission denies the action. */
type Denies = (value: PermissionValue, context: Context) => boolean

const isDenied: Denies = (value) => value === 'deny'
const isStranger: Denies = (value, { friend }) => value === 'friends' && friend === false
/** A list names what is allowed. */
const isOutside =
  (of: (context: Context) => string | undefined): Denies =>
  (value, context) => {
    const found = of(context)
    return found !== undefined && value.length > 0 && !value.includes(found)
  }
const otherRole = isOutside((context) => context.otherRole)
const groupType = isOutside((context) => context.groupType)
const otherScope = isOutside((context) => context.otherScope)
const hasScope: Denies = (value, { scope }) => typeof scope === 'string' && value.includes(scope)
const category = isOutside((context) => context.category)
const messageType = isOutside(({ category: of, type }) => (of === 'message' ? type : undefined))
const toUser =
  (denies: Denies): Denies =>
  (value, context) =>
    context.receiverType === 'user' && denies(value, context)

const OF_ROLE: Record<RolePermission, Denies> = {
  listUsers: isDenied,
  'listUsers.mode': isStranger,
  'listUsers.allowedRoles': otherRole,
  'getUserDetails.mode': isStranger,
  'getUserDetails.allowedRoles': otherRole,
  sendMessage: isDenied,
  'sendMessage.mode': toUser(isStranger),
  'sendMessage.allowedReceiverTypes': isOutside((context) => context.receiverType),
  'sendMessage.allowedReceiverRoles': toUser(otherRole),
  'sendMessage.allowedMessageTypes': messageType,
  'sendMessage.allowedMessageCategories': category,
  'sendMessage.allowedCustomTypes': isOutside(({ category: of, type }) =>
    of === 'custom' ? type : undefined,
  ),
  'sendMessage.allowedMimeTypes': (value, { mimeTypes = [] }) =>
    value.length > 0 && !mimeTypes.every((type) => isMimeTypeIn(value, type)),
  editMessage: isDenied,
  'editMessage.denyForScopes': hasScope,
  deleteMessage: isDenied,
  'deleteMessage.denyForScopes': hasScope,
  initiateCall: isDenied,
  'initiateCall.mode': toUser(isStranger),
  'initiateCall.allowedReceiverRoles': toUser(otherRole),
  createGroup: isDenied,
  'createGroup.allowedGroupTypes': groupType,
  listGroups: isDenied,
  'listGroups.allowedGroupTypes': groupType,
  joinGroup: isDenied,
  'joinGroup.allowedGroupTypes': groupType,
  'listMessages.allowedMessageCategories': category,
  'listMessages.allowedMessageTypes': messageType,
}

const OF_SCOPE: Record<ScopePermission, Denies> = {
  sendMessage: isDenied,
  sendThreadedMessage: isDenied,
  editMessage: isDenied,
  addReaction: isDenied,
  listReactions: isDenied,
  'listReactions.allowedScopes': otherScope,
  listMembers: isDenied,
  'listMembers.allowedScopes': otherScope,
  initiateCall: isDenied,
  'initiateCall.allowedScopes': otherScope,
  'initiateCall.allowedType': isOutside((context) => context.type),
}

/** `image/*` in a list stands for all images. */
const isMimeTypeIn = (allowed: PermissionValue, type: string) => {
  const wanted = type.toLowerCase()
  return [...allowed].some((one) => {
    const entry = one.toLowerCase()
    return entry === wanted || (entry.endsWith('/*') && wanted.startsWith(entry.slice(0, -1)))
  })
}

/** Permissions by their action, each with all that belong to it. */
const byAction = <Name extends string>(table: Record<Name, unknown>): Map<string, Name[]> =>
  Map.groupBy(Object.keys(table) as Name[], (name) => name.split('.')[0] as string)

const ROLE_RULES = byAction(rolePermissions)
const SCOPE_RULES = byAction(scopePermissions)

/** A rule that was looked at. */
export interface Step {
  layer: 'restriction' | 'role' | 'scope'
  /** The feature or the permission. */
  rule: string
  value: PermissionValue
  /** Whether somebody set the value. Otherwise it is the default. */
  explicit: boolean
  allows: boolean
}

/** All rules about an action, in the order in which they decide. */
export function chainOf(
  policy: RolePolicy | undefined,
  { features = [], permission, scopePermission }: Action,
  context: Context,
): Step[] {
  const steps: Step[] = []
  for (const feature of features) {
    const restricted = policy?.restricted.has(feature) ?? false
    const value = restricted ? 'restricted' : 'allowed'
    steps.push({
      layer: 'restriction',
      rule: feature,
      value,
      explicit: restricted,
      allows: !restricted,
    })
  }
  for (const rule of ROLE_RULES.get(permission ?? '') ?? []) {
    const given = policy?.permissions[rule]
    const value = given ?? rolePermissions[rule].defaultValue
    const allows = !OF_ROLE[rule](value, context)
    steps.push({ layer: 'role', rule, value, explicit: given !== undefined, allows })
  }
  for (const rule of SCOPE_RULES.get(scopePermission ?? '') ?? []) {
    const given = context.scopeRules?.[rule]?.value
    const value = given ?? scopePermissions[rule].defaultValue
    const allows = !OF_SCOPE[rule](value, context)
    steps.push({ layer: 'scope', rule, value, explicit: given !== undefined, allows })
  }
  return steps
}

/** The refusal of an action by the acting user's rules, if they deny it. An API key alone isn't bound. */
export function refusedBy(
  { uid, policy }: Pick<Actor, 'uid' | 'policy'>,
  action: Action,
  context: Context = {},
): ApiError | undefined {
  if (uid === undefined || (!policy && !context.scopeRules)) return undefined
  const denied = chainOf(policy, action, context).find(({ allows }) => !allows)
  return denied && refusalOf(denied, policy, context)
}

/** Throws the refusal of an action. */
export function authorize(
  actor: Pick<Actor, 'uid' | 'policy'>,
  action: Action,
  context: Context = {},
): void {
  const refusal = refusedBy(actor, action, context)
  if (refusal) throw refusal
}

/** The acting user's membership in a group, with the permissions of its scope. */
interface ScopeState {
  scope: string | null
  scope_rules: StoredPermissions | null
}

/**
 * The scopes of the members that a list of a group shows to the acting user; undefined for all. Refuses if the
 * user's scope may not list them at all.
 */
export function listedScopes(
  actor: Pick<Actor, 'uid' | 'policy'>,
  { scope, scope_rules: scopeRules }: ScopeState,
  permission: 'listMembers' | 'listReactions',
): readonly string[] | undefined {
  authorize(actor, { scopePermission: permission }, { scope, scopeRules })
  const allowed = scopeRules?.[`${permission}.allowedScopes`]?.value
  return typeof allowed === 'object' && allowed.length > 0 ? allowed : undefined
}

function refusalOf({ layer, rule }: Step, policy: RolePolicy | undefined, { scope }: Context) {
  const role = policy ? { role: [policy.role] } : {}
  if (layer === 'restriction')
    return fail('ERR_FEATURE_RESTRICTED', {}, { details: { feature: [`u.${rule}`], ...role } })
  const of = layer === 'role' ? role : { scope: [scope ?? ''] }
  return fail('ERR_PERMISSION_DENIED', {}, { details: { permission: [rule], ...of } })
}
