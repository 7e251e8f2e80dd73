/**
 * What access control and feature restrictions know: the permissions of roles and of scopes in a group, and the
 * features that a role can be denied. docs/access.md describes them.
 */
import { GROUP_TYPES, SCOPES } from '@loquat/protocol'

export const DATA_TYPES = [
  'string',
  'stringArray',
  'rolesStringArray',
  'customStringArray',
] as const
export type DataType = (typeof DATA_TYPES)[number]

export interface Permission {
  title: string
  description: string
  dataType: DataType
  /** The words that a value can have. Without them, any text, or any role of the app. */
  availableValues?: readonly string[]
  defaultValue: string | readonly string[]
}

/** A list without entries is no limit. Any other list names what is allowed, or what is denied if the name says so. */
export type PermissionValue = string | readonly string[]

const MESSAGE_TYPES = ['text', 'image', 'audio', 'video', 'file']

const onOff = (title: string, description: string): Permission => ({
  ...{ title, description, dataType: 'string' },
  ...{ availableValues: ['allow', 'deny'], defaultValue: 'allow' },
})
const mode = (title: string, description: string): Permission => ({
  ...{ title, description, dataType: 'string' },
  ...{ availableValues: ['all', 'friends'], defaultValue: 'all' },
})
const words = (
  availableValues: readonly string[],
  title: string,
  description: string,
): Permission => ({
  ...{ title, description, dataType: 'stringArray', availableValues, defaultValue: [] },
})
const roles = (title: string, description: string): Permission => ({
  ...{ title, description, dataType: 'rolesStringArray', defaultValue: [] },
})
const texts = (title: string, description: string): Permission => ({
  ...{ title, description, dataType: 'customStringArray', defaultValue: [] },
})

/** What a user may do in the whole app, by the user's role. */
export const rolePermissions = {
  listUsers: onOff('List users', 'May list users.'),
  'listUsers.mode': mode('Users in lists', 'Whether lists show all users or friends only.'),
  'listUsers.allowedRoles': roles('Roles in lists', 'Lists show only users with these roles.'),
  'getUserDetails.mode': mode(
    'Profiles',
    'Whether all profiles may be read or those of friends only.',
  ),
  'getUserDetails.allowedRoles': roles(
    'Roles of profiles',
    'Only profiles of users with these roles may be read.',
  ),
  sendMessage: onOff('Send messages', 'May send messages.'),
  'sendMessage.mode': mode('Receivers', 'Whether messages may go to all users or to friends only.'),
  'sendMessage.allowedReceiverTypes': words(
    ['user', 'group'],
    'Kinds of receivers',
    'Messages may only go to receivers of these kinds.',
  ),
  'sendMessage.allowedReceiverRoles': roles(
    'Roles of receivers',
    'Messages to users may only go to users with these roles.',
  ),
  'sendMessage.allowedMessageTypes': words(
    MESSAGE_TYPES,
    'Message types',
    'Messages of the category message may only have these types.',
  ),
  'sendMessage.allowedMessageCategories': words(
    ['message', 'custom', 'interactive'],
    'Message categories',
    'Messages may only have these categories.',
  ),
  'sendMessage.allowedCustomTypes': texts(
    'Custom types',
    'Messages of the category custom may only have these types.',
  ),
  'sendMessage.allowedMimeTypes': texts(
    'Types of attachments',
    'Attachments may only have these MIME types. image/* stands for all images.',
  ),
  editMessage: onOff('Edit messages', 'May edit messages.'),
  'editMessage.denyForScopes': words(
    SCOPES,
    'Scopes that may not edit',
    'In groups, members with these scopes may not edit messages.',
  ),
  deleteMessage: onOff('Delete messages', 'May delete messages.'),
  'deleteMessage.denyForScopes': words(
    SCOPES,
    'Scopes that may not delete',
    'In groups, members with these scopes may not delete messages.',
  ),
  initiateCall: onOff('Start calls', 'May start calls.'),
  'initiateCall.mode': mode('Called users', 'Whether all users may be called or friends only.'),
  'initiateCall.allowedReceiverRoles': roles(
    'Roles of called users',
    'Only users with these roles may be called.',
  ),
  createGroup: onOff('Create groups', 'May create groups.'),
  'createGroup.allowedGroupTypes': words(
    GROUP_TYPES,
    'Types of new groups',
    'New groups may only have these types.',
  ),
  listGroups: onOff('List groups', 'May list groups.'),
  'listGroups.allowedGroupTypes': words(
    GROUP_TYPES,
    'Types in lists',
    'Lists show only groups of these types.',
  ),
  joinGroup: onOff('Join groups', 'May join groups.'),
  'joinGroup.allowedGroupTypes': words(
    GROUP_TYPES,
    'Types of joined groups',
    'Only groups of these types may be joined.',
  ),
  'listMessages.allowedMessageCategories': words(
    ['message', 'custom', 'interactive', 'action', 'call'],
    'Categories in lists',
    'Only messages of these categories are shown.',
  ),
  'listMessages.allowedMessageTypes': words(
    MESSAGE_TYPES,
    'Types in lists',
    'Of the messages of the category message, only those of these types are shown.',
  ),
} satisfies Record<string, Permission>

export type RolePermission = keyof typeof rolePermissions

/** What a member may do in one group, by the member's scope. The owner of a group may do everything. */
export const scopePermissions = {
  sendMessage: onOff('Send messages', 'May send messages in the group.'),
  sendThreadedMessage: onOff('Reply in threads', 'May reply to messages of the group.'),
  editMessage: onOff('Edit messages', 'May edit messages of the group.'),
  addReaction: onOff('React', 'May react to messages of the group.'),
  listReactions: onOff('See reactions', 'May list the reactions to messages of the group.'),
  'listReactions.allowedScopes': words(
    SCOPES,
    'Whose reactions',
    'Lists show only reactions of members with these scopes.',
  ),
  listMembers: onOff('See members', 'May list the members of the group.'),
  'listMembers.allowedScopes': words(
    SCOPES,
    'Which members',
    'Lists show only members with these scopes.',
  ),
  initiateCall: onOff('Start calls', 'May start calls in the group.'),
  'initiateCall.allowedScopes': words(
    SCOPES,
    'Who may be called',
    'Only members with these scopes may be called.',
  ),
  'initiateCall.allowedType': words(
    ['audio', 'video'],
    'Kinds of calls',
    'Calls may only be of these kinds.',
  ),
} satisfies Record<string, Permission>

export type ScopePermission = keyof typeof scopePermissions

export interface FeatureDefinition {
  title: string
  /** Completes "Users with this role can't …". */
  description: string
  path: string
}

const feature = (title: string, description: string, path: string): FeatureDefinition => ({
  ...{ title, description, path: `/v3${path}` },
})

/** What the users of a role can be denied. */
export const features = {
  addMember: feature('Add members', 'add a member to a group', '/groups/{guid}/members'),
  ban: feature('Ban', 'ban a user from a group', '/groups/{guid}/bannedusers/{uid}'),
  blockUser: feature('Block users', 'block a user', '/users/{uid}/blockedusers'),
  changeScope: feature('Change scopes', "change a member's scope", '/groups/{guid}/members/{uid}'),
  createCall: feature('Start calls', 'start a call', '/calls'),
  createGroup: feature('Create groups', 'create a group', '/groups'),
  createMessage: feature('Send messages', 'send a message', '/messages'),
  createMessageThread: feature('Reply', 'reply in a thread', '/messages/{id}/thread'),
  deleteCall: feature('Delete calls', 'delete a call', '/calls/{sessionid}'),
  deleteConversationForUser: feature(
    'Delete conversations',
    'delete a conversation on their own side',
    '/users/{uid}/conversation',
  ),
  deleteGroup: feature('Delete groups', 'delete a group', '/groups/{guid}'),
  deleteGroupMessages: feature(
    'Delete messages of groups',
    'delete messages in a group',
    '/messages/{id}',
  ),
  deleteMessage: feature('Delete messages', 'delete a message', '/messages/{id}'),
  getBlockedUsers: feature(
    'See blocked users',
    'list the users they block',
    '/users/{uid}/blockedusers',
  ),
  getCall: feature('See a call', 'read a call', '/calls/{sessionid}'),
  getConversation: feature(
    'See a conversation',
    'read one conversation',
    '/users/{uid}/conversation',
  ),
  getGroup: feature('See a group', 'read one group', '/groups/{guid}'),
  getGroupMessages: feature(
    'See messages of groups',
    'read the messages of a group',
    '/groups/{guid}/messages',
  ),
  getMember: feature('See a member', 'read one member of a group', '/groups/{guid}/members/{uid}'),
  getMessage: feature('See a message', 'read one message', '/messages/{id}'),
  getMyDetails: feature('See their own profile', 'read their own profile', '/users/{uid}'),
  getUser: feature('See a profile', "read another user's profile", '/users/{uid}'),
  getUserMessages: feature(
    'See messages of users',
    'read the messages exchanged with a user',
    '/users/{uid}/messages',
  ),
  joinGroup: feature('Join groups', 'join a group', '/groups/{guid}/join'),
  kickMember: feature(
    'Kick members',
    'remove a member from a group',
    '/groups/{guid}/members/{uid}',
  ),
  leaveGroup: feature('Leave groups', 'leave a group', '/groups/{guid}/leave'),
  listBannedUsers: feature(
    'List banned users',
    'list the banned users of a group',
    '/groups/{guid}/bannedusers',
  ),
  listCalls: feature('List calls', 'list calls', '/calls'),
  listConversations: feature('List conversations', 'list their conversations', '/conversations'),
  listGroupMembers: feature(
    'List members',
    'list the members of a group',
    '/groups/{guid}/members',
  ),
  listGroups: feature('List groups', 'list groups', '/groups'),
  listMessages: feature('List messages', 'list all their messages', '/messages'),
  listSettings: feature('List settings', 'read the settings of the app', '/settings'),
  listThreadedMessages: feature('List replies', 'list replies', '/messages/{id}/thread'),
  listUsers: feature('List users', 'list users', '/users'),
  logout: feature('Log out', 'end their own session', '/me'),
  massMemberOperate: feature(
    'Change several members',
    'change several members of a group in one call',
    '/groups/{guid}/members',
  ),
  patchOwner: feature(
    'Hand over groups',
    'hand over a group that they own',
    '/groups/{guid}/owner',
  ),
  unban: feature('Lift bans', 'lift a ban', '/groups/{guid}/bannedusers/{uid}'),
  unblockUser: feature('Unblock users', 'lift a block', '/users/{uid}/blockedusers'),
  updateAuthToken: feature('Change their own profile', 'change their own profile', '/users/{uid}'),
  updateCall: feature('Change calls', 'change the state of a call', '/calls/{sessionid}'),
  updateGroup: feature('Edit groups', 'edit a group', '/groups/{guid}'),
  updateMessage: feature('Edit messages', 'edit a message', '/messages/{id}'),
} satisfies Record<string, FeatureDefinition>

export type Feature = keyof typeof features

export const isRolePermission = (name: string): name is RolePermission =>
  Object.hasOwn(rolePermissions, name)
export const isScopePermission = (name: string): name is ScopePermission =>
  Object.hasOwn(scopePermissions, name)
export const isFeature = (name: string): name is Feature => Object.hasOwn(features, name)
