import type { ErrorDefinition } from './definition.ts'

export const groupErrors = {
  ERR_GUID_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no group with guid "{guid}".',
    when: "The group doesn't exist or was deleted.",
  },
  ERR_GUID_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'A group with guid "{guid}" already exists. Choose another guid.',
    when: 'The guid of the new group is taken. A deleted group keeps its guid until all its data is removed.',
  },
  ERR_EMPTY_GROUP_PASS: {
    status: 400,
    retry: false,
    message: 'A group of type "password" needs a password.',
    when: 'A group of type `password` was created or joined without a password.',
  },
  ERR_WRONG_GROUP_PASS: {
    status: 403,
    retry: false,
    message: 'The group password is wrong.',
    when: "The password given to join isn't the group's password.",
  },
  ERR_NOT_A_MEMBER: {
    status: 404,
    retry: false,
    message: 'The user "{uid}" is not a member of this group.',
    when: "The user in the path or body isn't a member of the group.",
  },
  ERR_ALREADY_JOINED: {
    status: 409,
    retry: false,
    message: 'The user "{uid}" is already a member of this group.',
    when: 'The user who joins or is added is already a member.',
  },
  ERR_GROUP_NOT_JOINED: {
    status: 403,
    retry: false,
    message: 'Only members of this group can do this. Join the group first.',
    when: "The acting user isn't a member of the group.",
  },
  ERR_GROUP_JOIN_NOT_ALLOWED: {
    status: 403,
    retry: false,
    message: 'The group "{guid}" is private. Ask a member to add you.',
    when: 'A user tries to join a private group. Its admins and moderators add members instead.',
  },
  ERR_NO_VACANCY: {
    status: 403,
    retry: false,
    message: 'The group is full: it has the maximum of {limit} members.',
    when: 'The group already has the maximum number of members.',
  },
  ERR_SAME_SCOPE: {
    status: 400,
    retry: false,
    message: 'The user "{uid}" already has this scope.',
    when: 'The new scope is the current one.',
  },
  ERR_NOT_A_BANNED_USER: {
    status: 404,
    retry: false,
    message: 'The user "{uid}" is not banned from this group.',
    when: "The user in the path isn't banned.",
  },
  ERR_BANNED_GROUPMEMBER: {
    status: 403,
    retry: false,
    message: 'This user is banned from the group.',
    when: 'The acting user, or the user to add, is banned from the group.',
  },
  ERR_ALREADY_BANNED: {
    status: 409,
    retry: false,
    message: 'The user "{uid}" is already banned from this group.',
    when: 'The user to ban is already banned.',
  },
  ERR_GROUP_NO_CLEARANCE: {
    status: 403,
    retry: false,
    message: "Your role in this group doesn't allow this action.",
    when: 'The user in the path is the owner or has an equal or higher scope; or the owner tries to leave; or another member tries to transfer the group. `devMessage` says which, and what to do.',
  },
  ERR_GROUP_NO_ADMIN_SCOPE: {
    status: 403,
    retry: false,
    message: 'Only admins of this group can do this.',
    when: 'The acting user is a member, but not an admin.',
  },
  ERR_GROUP_NO_MODERATOR_SCOPE: {
    status: 403,
    retry: false,
    message: 'Only moderators and admins of this group can do this.',
    when: 'The acting user is a participant.',
  },
  ERR_GROUP_NO_SCOPE_CLEARANCE: {
    status: 403,
    retry: false,
    message: 'You can\'t give this scope to "{uid}".',
    when: "The acting user may not change this member's scope, or may not grant this scope.",
  },
  ERR_GROUP_NO_SELF_ACTION: {
    status: 403,
    retry: false,
    message: "You can't do this to yourself.",
    when: 'The acting user and the user in the path are the same.',
  },
} as const satisfies Record<string, ErrorDefinition>
