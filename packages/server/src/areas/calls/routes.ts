import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type ErrorCode, TranscriptionRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data, Page } from '../../platform/http/schemas.ts'
import {
  cancelCall,
  deleteCall,
  endCall,
  getCall,
  joinCall,
  leaveCall,
  rejectCall,
} from './actions.ts'
import { pageOfCalls } from './list.ts'
import {
  CallListQuery,
  CallRecord,
  JoinBody,
  LeaveBody,
  NewCall,
  NewTranscription,
  RejectBody,
  SessionParams,
  TranscriptionQuery,
} from './schema.ts'
import { asCaller, startCall } from './start.actions.ts'
import { addCallTranscription, pageOfTranscriptions } from './transcriptions.actions.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
}
const ofUser = { ...access, onBehalfOf: 'required', rate: 'core' } as const
const tags = ['calls']

const FOUND = ['ERR_CALL_SESSION_NOT_FOUND', 'ERR_EMPTY_CALL_SESSION_ID'] as const
const changing = (...more: ErrorCode[]) => ({
  ...ofUser,
  feature: 'updateCall' as const,
  errors: [...FOUND, 'ERR_UID_NOT_FOUND', 'ERR_CALL_TERMINATED', ...more] as ErrorCode[],
})

export const callRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/calls',
      {
        config: { ...access, feature: 'listCalls' },
        schema: {
          operationId: 'listCalls',
          tags,
          summary: 'List calls',
          description:
            'Newest first. With an acting user, only calls that the user takes part in: as caller, called user or member of the group at the time.',
          querystring: CallListQuery,
          response: { 200: Page(CallRecord) },
        },
      },
      ({ actor, query }) => pageOfCalls(deps, actor, query),
    )

    app.post(
      '/calls',
      {
        config: {
          ...ofUser,
          feature: 'createCall',
          permission: 'initiateCall',
          scopePermission: 'initiateCall',
          speaks: true,
          errors: [
            ...(['ERR_CALLING_SELF', 'ERR_UID_NOT_FOUND', 'ERR_GUID_NOT_FOUND'] as const),
            ...(['ERR_CALL_BUSY_SELF', 'ERR_CALL_BUSY_USER', 'ERR_CALL_BUSY_GROUP'] as const),
            ...(['ERR_BLOCKED_RECEIVER', 'ERR_BLOCKED_SENDER', 'ERR_GROUP_NOT_JOINED'] as const),
            ...(['ERR_BANNED_GROUPMEMBER', 'ERR_PLAN_QUOTA_RESTRICTION'] as const),
          ],
        },
        schema: {
          operationId: 'startCall',
          tags,
          summary: 'Call a user or a group',
          description:
            'Rings for 45 seconds; in the mode `meet` the session starts at once. If the called user is calling the caller at this moment, both are in one call.',
          body: NewCall,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await startCall(deps, asCaller(actor), body) }),
    )

    app.get(
      '/calls/:sessionId',
      {
        config: { ...access, feature: 'getCall', errors: FOUND },
        schema: {
          operationId: 'getCall',
          tags,
          summary: 'Get a call',
          params: SessionParams,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params }) => ({ data: await getCall(actor, params.sessionId) }),
    )

    app.get(
      '/calls/:sessionId/transcriptions',
      {
        config: { ...access, feature: 'getCall', errors: FOUND },
        schema: {
          operationId: 'listCallTranscriptions',
          tags,
          summary: 'List the transcriptions of a call',
          description: 'Newest first. There are none until a server of the app adds one.',
          params: SessionParams,
          querystring: TranscriptionQuery,
          response: { 200: Page(TranscriptionRecord) },
        },
      },
      ({ actor, params, query }) => pageOfTranscriptions(actor, params.sessionId, query),
    )

    app.post(
      '/calls/:sessionId/transcriptions',
      {
        config: {
          ...{ scope: 'fullAccess', users: false, onBehalfOf: 'ignored', rate: 'core' },
          errors: [
            ...FOUND,
            ...([
              'ERR_CALL_NOT_STARTED',
              'ERR_FILE_NOT_FOUND',
              'ERR_PLAN_QUOTA_RESTRICTION',
            ] as const),
          ],
        },
        schema: {
          operationId: 'addCallTranscription',
          tags,
          summary: 'Add a transcription to a call',
          description:
            'Upload the transcript as a file first. Everyone who sees the call can read it then, as long as the record of the call exists.',
          params: SessionParams,
          body: NewTranscription,
          response: { 200: Data(TranscriptionRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await addCallTranscription(deps, actor, params.sessionId, body),
      }),
    )

    app.post(
      '/calls/:sessionId/join',
      {
        config: changing(
          ...(['ERR_CALL_USER_ALREADY_JOINED', 'ERR_CALL_GROUP_ALREADY_JOINED'] as const),
          ...(['ERR_CALL_BUSY_SELF', 'ERR_BLOCKED_RECEIVER', 'ERR_BLOCKED_SENDER'] as const),
          ...(['ERR_GUID_NOT_FOUND', 'ERR_GROUP_NOT_JOINED', 'ERR_BANNED_GROUPMEMBER'] as const),
          'ERR_PLAN_QUOTA_RESTRICTION',
        ),
        schema: {
          operationId: 'joinCall',
          tags,
          summary: 'Answer or join a call',
          description:
            "The first device of a user that answers wins. With `transfer`, the call moves from the user's other device to this one.",
          params: SessionParams,
          body: JoinBody,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await joinCall(deps, asCaller(actor), params.sessionId, body),
      }),
    )

    app.post(
      '/calls/:sessionId/leave',
      {
        config: changing(
          ...(['ERR_CALL_NOT_STARTED', 'ERR_CALL_NOT_A_PART'] as const),
          'ERR_CALL_GROUP_ALREADY_LEFT',
        ),
        schema: {
          operationId: 'leaveCall',
          tags,
          summary: 'Leave a call',
          description: 'A 1:1 call ends with that, another one when the last device leaves.',
          params: SessionParams,
          body: LeaveBody,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await leaveCall(deps, asCaller(actor), params.sessionId, body),
      }),
    )

    app.post(
      '/calls/:sessionId/reject',
      {
        config: changing(
          ...(['ERR_CALL_ONGOING_TO_INVALID', 'ERR_CALL_NOT_A_PART'] as const),
          'ERR_CALL_GROUP_INVALID_STATUS',
        ),
        schema: {
          operationId: 'rejectCall',
          tags,
          summary: 'Reject a call',
          description: 'A 1:1 call is over then. In a group, it stops ringing for this user.',
          params: SessionParams,
          body: RejectBody,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await rejectCall(deps, asCaller(actor), params.sessionId, body),
      }),
    )

    app.post(
      '/calls/:sessionId/cancel',
      {
        config: changing('ERR_CALL_ONGOING_TO_INVALID', 'ERR_CALL_NOT_A_PART'),
        schema: {
          operationId: 'cancelCall',
          tags,
          summary: 'Hang up before anybody answers',
          params: SessionParams,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params }) => ({
        data: await cancelCall(deps, asCaller(actor), params.sessionId),
      }),
    )

    app.post(
      '/calls/:sessionId/end',
      {
        config: changing(
          ...(['ERR_CALL_NOT_STARTED', 'ERR_CALL_NOT_A_PART', 'ERR_GROUP_NOT_JOINED'] as const),
          ...(['ERR_BANNED_GROUPMEMBER', 'ERR_GROUP_NO_MODERATOR_SCOPE'] as const),
        ),
        schema: {
          operationId: 'endCall',
          tags,
          summary: 'End a call for everyone',
          description: 'In a group, for the caller, admins and moderators.',
          params: SessionParams,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params }) => ({
        data: await endCall(deps, asCaller(actor), params.sessionId),
      }),
    )

    app.delete(
      '/calls/:sessionId',
      {
        config: {
          ...access,
          feature: 'deleteCall',
          errors: [...FOUND, 'ERR_CALL_ONGOING_TO_INVALID', 'ERR_CALL_NOT_STARTED'],
        },
        schema: {
          operationId: 'deleteCall',
          tags,
          summary: 'Delete the record of a call',
          description:
            'With an acting user, it only goes from the list of that user. Messages about the call stay.',
          params: SessionParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteCall(deps, actor, params.sessionId) }),
    )
  }
