import type { ErrorDefinition } from './definition.ts'

export const accessErrors = {
  ERR_PERMISSION_DENIED: {
    status: 403,
    retry: false,
    message: "Your role or your scope in the group doesn't allow this action.",
    when: "A permission of the user's role or of the member's scope denies the action; `details` names it. Also: a group participant tries to pin, or a user whose role is limited to friends tries to add friends.",
  },
  ERR_FEATURE_RESTRICTED: {
    status: 403,
    retry: false,
    message: "Your role can't use this feature.",
    when: "The feature is restricted for the user's role; `details` names it.",
  },
  ERR_FEATURE_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no feature "{feature}".',
    when: 'No feature has this name.',
  },
  ERR_PERMISSION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no permission "{permission}".',
    when: 'No permission of roles, or of scopes, has this name.',
  },
} as const satisfies Record<string, ErrorDefinition>
