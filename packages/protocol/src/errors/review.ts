import type { ErrorDefinition } from './definition.ts'

/** Flags, the queue of moderators, and sanctions. */
export const reviewErrors = {
  ERR_REASON_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no reason "{id}".',
    when: 'The app has no reason for flags with this id.',
  },
  ERR_REVIEW_ITEM_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no item "{id}" in the queue.',
    when: 'No such message, user or group waits for a moderator. Perhaps somebody has decided.',
  },
  ERR_REVIEW_ITEM_CLAIMED: {
    status: 409,
    retry: false,
    message: '{moderator} is looking at this item.',
    when: 'Another moderator has claimed the item of the queue. `details` has `moderator` and `until`.',
  },
  ERR_SANCTION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no sanction "{id}".',
    when: 'The app has no sanction with this id, or it has ended.',
  },
  ERR_USER_BANNED: {
    status: 403,
    retry: false,
    message: 'This user is banned.',
    when: 'A moderator banned the user from the app. `details` has `kind`, `reason` and, if the ban ends, `until`.',
  },
  ERR_USER_MUTED: {
    status: 403,
    retry: false,
    message: 'This user is muted.',
    when: 'A moderator muted the user, in the app or in the group that `details.guid` names. `details` also has `kind`, `reason` and, if the mute ends, `until`.',
  },
} as const satisfies Record<string, ErrorDefinition>
