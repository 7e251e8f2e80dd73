import type { ErrorDefinition } from './definition.ts'

/** Imports and exports. */
export const importErrors = {
  ERR_IMPORT_INVALID_USER_FORMAT: {
    status: 400,
    retry: false,
    message: 'Send the users as an object: `{"users": {"<uid>": {"uid": …, "name": …}}}`.',
    when: 'Imports: `users` is missing, empty or neither an object nor a list.',
  },
  ERR_IMPORT_INVALID_GROUP_FORMAT: {
    status: 400,
    retry: false,
    message: 'Send the groups as an object: `{"groups": {"<guid>": {"guid": …, "name": …}}}`.',
    when: 'Imports: `groups` is missing, empty or neither an object nor a list.',
  },
  ERR_IMPORT_INVALID_MEMBER_FORMAT: {
    status: 400,
    retry: false,
    message:
      'Send the members as an object: `{"members": {"<guid>_member_<uid>": {"memberId": …}}}`.',
    when: 'Imports: `members` is missing, empty or neither an object nor a list.',
  },
  ERR_IMPORT_INVALID_MESSAGE_FORMAT: {
    status: 400,
    retry: false,
    message: 'Send the messages as an object: `{"messages": {"<muid>": {"muid": …}}}`.',
    when: 'Imports: `messages` is missing, empty or neither an object nor a list.',
  },
  ERR_IMPORT_INVALID_JOINEDAT: {
    status: 400,
    retry: false,
    message: "`joinedAt` must not be before the group's creation, nor in the future.",
    when: "Imports: `joinedAt` of a member is before the group's creation or in the future.",
  },
  ERR_IMPORT_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no import "{importId}".',
    when: 'The app has no import with this id. Imports are deleted after 30 days.',
  },
  ERR_IMPORT_STATE: {
    status: 409,
    retry: false,
    message: 'The import "{importId}" is {state}, so it can\'t be {change}.',
    when: 'The state of an import, such as `done`, does not allow the change.',
  },
  ERR_EXPORT_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no export "{exportId}".',
    when: 'The app has no export with this id. Exports are deleted after a week.',
  },
  ERR_EXPORT_PART_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'The export has no part {part}.',
    when: 'The export has no part with this number, or not yet.',
  },
  ERR_IMPORT_MUID_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'A message with the muid "{muid}" was already imported or sent.',
    when: 'Imports: a message with this `muid` was imported before, or the same sender has sent one.',
  },
} as const satisfies Record<string, ErrorDefinition>
