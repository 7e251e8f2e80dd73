import type { ErrorDefinition } from './definition.ts'

/** Users with their roles and relations. */
export const userErrors = {
  ERR_ROLE_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no role "{role}".',
    when: 'The app has no such role.',
  },
  ERR_ROLE_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'A role "{role}" already exists. Choose another name.',
    when: 'The id of the new role is taken.',
  },
  ERR_ROLE_DELETE_DENIED: {
    status: 403,
    retry: false,
    message: 'The role "{role}" is built in and can\'t be deleted.',
    when: 'The role in the path is built in.',
  },
  ERR_UID_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no user with uid "{uid}".',
    when: "The user doesn't exist or is deactivated.",
  },
  ERR_UID_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'A user with uid "{uid}" already exists. Choose another uid.',
    when: 'The uid of the new user is taken; deactivated users keep theirs.',
  },
  ERR_BOT_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no bot with uid "{uid}".',
    when: "The user doesn't exist or isn't a bot. When sending: or the bot is deactivated.",
  },
  ERR_BOT_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'A bot with uid "{uid}" already exists. Choose another uid.',
    when: 'The uid of the new bot belongs to another bot.',
  },
  ERR_ALREADY_FRIEND: {
    status: 409,
    retry: false,
    message: 'These users are already friends.',
    when: 'The two users are already friends. Returned for each uid.',
  },
  ERR_NOT_A_FRIEND: {
    status: 404,
    retry: false,
    message: 'None of these users are friends of "{uid}".',
    when: 'None of the users in the request are friends of the user.',
  },
  ERR_CANNOT_FORM_SELF_RELATION: {
    status: 403,
    retry: false,
    message: "A user can't be friends with themselves.",
    when: 'The request adds a user as their own friend. Returned for each uid.',
  },
  ERR_CANNOT_BLOCK_SELF: {
    status: 403,
    retry: false,
    message: "A user can't block themselves.",
    when: 'The request makes a user block themselves. Returned for each uid.',
  },
} as const satisfies Record<string, ErrorDefinition>
