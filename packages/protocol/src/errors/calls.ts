import type { ErrorDefinition } from './definition.ts'

export const callErrors = {
  ERR_CALLING_SELF: {
    status: 400,
    retry: false,
    message: "You can't call yourself.",
    when: 'The caller and the called user are the same.',
  },
  ERR_CALL_BUSY_SELF: {
    status: 409,
    retry: true,
    message: 'You are in another call.',
    when: 'The acting user is in another call. `details.sessionId` names it.',
  },
  ERR_CALL_BUSY_USER: {
    status: 409,
    retry: true,
    message: 'The user "{uid}" is in another call.',
    when: 'The called user is in another call. The attempt is in the list of calls; `details.sessionId` names it.',
  },
  ERR_CALL_BUSY_GROUP: {
    status: 409,
    retry: true,
    message: 'The group "{guid}" already has a call.',
    when: 'The group already has a call, which `details.sessionId` names. Join it.',
  },
  ERR_EMPTY_CALL_SESSION_ID: {
    status: 400,
    retry: false,
    message: 'The session id is empty.',
    when: 'The session id in the path is blank.',
  },
  ERR_CALL_SESSION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no call "{sessionId}".',
    when: 'The app has no call with this session id, or the acting user takes no part in it.',
  },
  ERR_CALL_TERMINATED: {
    status: 409,
    retry: false,
    message: 'The call is over.',
    when: 'The call was ended, rejected, cancelled or not answered.',
  },
  ERR_CALL_GROUP_ALREADY_JOINED: {
    status: 409,
    retry: false,
    message: 'You have already joined this call on another device.',
    when: 'The acting user is in this call of a group. Send `transfer` to move it to this device.',
  },
  ERR_CALL_GROUP_ALREADY_LEFT: {
    status: 409,
    retry: false,
    message: 'You have already left this call.',
    when: 'The acting user, or this device, has left the call.',
  },
  ERR_CALL_USER_ALREADY_JOINED: {
    status: 409,
    retry: false,
    message: 'You have already answered this call.',
    when: 'The acting user is in this 1:1 call. Send `transfer` to move it to this device.',
  },
  ERR_CALL_GROUP_INVALID_STATUS: {
    status: 400,
    retry: false,
    message: "A call of a group can't have this status.",
    when: '`busy` is only possible in 1:1 calls.',
  },
  ERR_CALL_ONGOING_TO_INVALID: {
    status: 400,
    retry: false,
    message: 'The call is going on. Leave or end it.',
    when: "An ongoing call can't be cancelled, rejected or deleted.",
  },
  ERR_CALL_NOT_STARTED: {
    status: 400,
    retry: false,
    message: 'Nobody has answered the call yet. Cancel it.',
    when: "A call that still rings can't be left, ended or deleted.",
  },
  ERR_CALL_NOT_A_PART: {
    status: 403,
    retry: false,
    message: 'You take no part in this call, or not the part that this needs.',
    when: "The acting user isn't in the call, or only the caller or the called user may do this.",
  },
  ERR_CALL_MEDIA_UNAVAILABLE: {
    status: 503,
    retry: false,
    message: 'No media server is available, so calls have no audio and video.',
    when: 'The installation has no media server (`LOQUAT_MEDIA_SERVERS`), or none answers.',
  },
  ERR_CALL_RECORDING_UNAVAILABLE: {
    status: 403,
    retry: false,
    message: "This installation doesn't record calls.",
    when: 'The installation has no folder for recordings (`LOQUAT_MEDIA_RECORDINGS`) or no store for files.',
  },
  ERR_CALL_MEDIA_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'Nobody in this call sends "{id}".',
    when: 'The device stopped sending it, left the call, or has to connect again. Read the list of media again.',
  },
} as const satisfies Record<string, ErrorDefinition>
