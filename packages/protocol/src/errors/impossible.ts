const OTHERWISE = 'otherwise the request fails with `ERR_MISSION_FAILED` or `ERR_EXCEPTION`'
const DELETION = `A deletion is one transaction; ${OTHERWISE}.`
const FAULT = 'Faults of the service are `ERR_MISSION_FAILED` or `ERR_EXCEPTION`.'
const MIRRORED =
  'Devices read the event log, which is written with each change. Nothing is copied to another system.'

/** Codes that comparable services document and this one never returns, with the reason. */
export const impossibleErrors: Record<string, string> = {
  ERR_APP_DELETION: 'There are no plans, so no plan can prevent the deletion of an app.',
  ERR_PLAN_RESTRICTION: 'There are no plans, so every feature is available.',
  ERR_SUBSCRIPTION_EXPIRED: 'There are no subscriptions.',
  ERR_AUTH_TOKEN_DELETE_FAILED: DELETION,
  ERR_AUTH_TOKENS_DELETE_FAILED: DELETION,
  ERR_ROLE_DELETE_FAILED: DELETION,
  ERR_UID_DELETE_FAILED: DELETION,
  ERR_KB_INDEXING_FAILED:
    'A source is indexed by a job; if that fails, the state of the source says so.',
  ERR_AGENT_CREATION_FAILED: `An agent and its user are stored in one transaction; ${OTHERWISE}.`,
  ERR_FAILED_TO_ADD_FRIEND: `Both sides of a friendship are stored in one transaction; ${OTHERWISE}.`,
  ERR_GROUP_DELETE_FAILED: DELETION,
  ERR_MEMBER_DELETE_FAILED: DELETION,
  ERR_MEMBER_SCOPE_CHANGE_FAILED: `The scope changes in one transaction; ${OTHERWISE}.`,
  ERR_MEMBER_BAN_FAILED: `A ban is one transaction; ${OTHERWISE}.`,
  ERR_MEMBER_UNBAN_FAILED: DELETION,
  ERR_USER_MESSAGE_DELETE_FAILED: DELETION,
  ERR_TOKEN_ALREADY_EXISTS:
    'A push token that is registered again moves to its new session, so that devices can register at each start.',
  ERR_CALL_EMPTY_JOINED_AT: 'The service itself stores when a device joins.',
  ERR_CALL_INVALID_INIT: 'A call starts when it is created, and nobody chooses its first status.',
  ERR_MSG_NOT_FOUND: 'It is another name of `ERR_MESSAGE_ID_NOT_FOUND`.',
  ERR_OPERATION_FAILED: FAULT,
  ERR_BAD_ERROR_RESPONSE: FAULT,
  ERR_WS_INIT_FAILED: MIRRORED,
  ERR_WS_APP_INIT_FAILED: MIRRORED,
  ERR_WS_APP_DESTROY_FAILED: MIRRORED,
  ERR_WS_ROLE_CREATION_FAILED: MIRRORED,
  ERR_WS_ROLE_DELETION_FAILED: MIRRORED,
  ERR_WS_USER_CREATION_FAILED: MIRRORED,
  ERR_WS_USER_UPDATION_FAILED: MIRRORED,
  ERR_WS_GROUP_CREATION_FAILED: MIRRORED,
  ERR_WS_GROUP_DELETION_FAILED: MIRRORED,
  ERR_WS_GROUP_JOIN_FAILED: MIRRORED,
}
