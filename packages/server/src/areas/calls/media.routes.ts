import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '@loquat/protocol'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import {
  answerCallMedia,
  getCallMedia,
  publishCallMedia,
  removeCallMedia,
  subscribeCallMedia,
  updateCallMedia,
} from './media.actions.ts'
import { startCallRecording, stopCallRecording } from './recording.actions.ts'
import {
  AnswerBody,
  CallMedia,
  CallRecord,
  MediaServerRecord,
  Negotiated,
  NewPublication,
  PublicationParams,
  SendingBody,
  SessionParams,
  SubscribeBody,
} from './schema.ts'
import { listCallServers } from './servers.ts'
import { asCaller } from './start.actions.ts'

const access = { scope: 'fullAccess', users: true, onBehalfOf: 'required', rate: 'core' } as const
const errors: ErrorCode[] = [
  ...(['ERR_CALL_SESSION_NOT_FOUND', 'ERR_EMPTY_CALL_SESSION_ID'] as const),
  ...(['ERR_CALL_NOT_STARTED', 'ERR_CALL_TERMINATED', 'ERR_CALL_NOT_A_PART'] as const),
]
const sending = (...more: ErrorCode[]) => ({
  ...access,
  feature: 'updateCall' as const,
  errors: [...errors, ...more],
})
const recording = (...more: ErrorCode[]) => ({
  ...{ ...access, onBehalfOf: 'optional' as const, feature: 'updateCall' as const },
  errors: [
    ...errors,
    ...([
      'ERR_GROUP_NOT_JOINED',
      'ERR_BANNED_GROUPMEMBER',
      'ERR_GROUP_NO_MODERATOR_SCOPE',
    ] as const),
    ...more,
  ],
})
const UNAVAILABLE = 'ERR_CALL_MEDIA_UNAVAILABLE'
const MISSING = 'ERR_CALL_MEDIA_NOT_FOUND'
const tags = ['calls']

const DeviceQuery = Type.Object({ deviceId: SubscribeBody.properties.deviceId })

/** Audio and video. Only our server talks to the media server; devices send and get their descriptions here. */
export const callMediaRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/media-servers',
      {
        config: { scope: 'fullAccess', users: false, onBehalfOf: 'ignored', rate: 'standard' },
        schema: {
          operationId: 'listCallServers',
          tags,
          summary: 'List media servers',
          description:
            "The servers that forward audio and video of the app's calls, all at once. Without any, calls have records, but no audio and video.",
          response: { 200: Data(Type.Array(MediaServerRecord)) },
        },
      },
      async ({ actor, turn }) => ({ data: await listCallServers(deps, actor, turn) }),
    )

    app.get(
      '/calls/:sessionId/media',
      {
        config: { ...access, feature: 'getCall', errors: [...errors, UNAVAILABLE] },
        schema: {
          operationId: 'getCallMedia',
          tags,
          summary: 'List what devices in a call send',
          description:
            'For a device in an ongoing call. Also returns STUN and TURN servers, with credentials that expire after an hour.',
          params: SessionParams,
          querystring: DeviceQuery,
          response: { 200: Data(CallMedia) },
        },
      },
      async ({ actor, params, query }) => ({
        data: await getCallMedia(deps, asCaller(actor), params.sessionId, query.deviceId),
      }),
    )

    app.post(
      '/calls/:sessionId/media',
      {
        config: sending(UNAVAILABLE),
        schema: {
          operationId: 'publishCallMedia',
          tags,
          summary: 'Send audio and video to a call',
          description:
            'Takes the offer of a new WebRTC connection and returns the answer. Replaces what the device sent from the same source before.',
          params: SessionParams,
          body: NewPublication,
          response: { 200: Data(Negotiated) },
        },
      },
      async ({ actor, params, body, turn }) => ({
        data: await publishCallMedia(deps, asCaller(actor), params.sessionId, body, turn),
      }),
    )

    app.put(
      '/calls/:sessionId/media/:publicationId',
      {
        config: sending(MISSING),
        schema: {
          operationId: 'updateCallMedia',
          tags,
          summary: 'Show that the microphone or the camera is on or off',
          params: PublicationParams,
          body: SendingBody,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params: { sessionId, publicationId }, body }) => ({
        data: await updateCallMedia(deps, asCaller(actor), sessionId, publicationId, body),
      }),
    )

    app.delete(
      '/calls/:sessionId/media/:publicationId',
      {
        config: sending(MISSING),
        schema: {
          operationId: 'removeCallMedia',
          tags,
          summary: 'Stop sending audio and video',
          description: 'The device stays in the call.',
          params: PublicationParams,
          querystring: DeviceQuery,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params: { sessionId, publicationId }, query }) => ({
        data: await removeCallMedia(
          ...([deps, asCaller(actor), sessionId, publicationId, query.deviceId] as const),
        ),
      }),
    )

    app.post(
      '/calls/:sessionId/media/:publicationId/subscribe',
      {
        config: sending(MISSING, UNAVAILABLE),
        schema: {
          operationId: 'subscribeCallMedia',
          tags,
          summary: 'Receive what another device sends',
          description: 'Returns the offer of a new WebRTC connection. Answer it.',
          params: PublicationParams,
          body: SubscribeBody,
          response: { 200: Data(Negotiated) },
        },
      },
      async ({ actor, params: { sessionId, publicationId }, body, turn }) => ({
        data: await subscribeCallMedia(deps, asCaller(actor), sessionId, publicationId, body, turn),
      }),
    )

    app.post(
      '/calls/:sessionId/media/:publicationId/answer',
      {
        config: sending(MISSING, UNAVAILABLE),
        schema: {
          operationId: 'answerCallMedia',
          tags,
          summary: 'Answer the offer of a connection that receives',
          params: PublicationParams,
          body: AnswerBody,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params: { sessionId, publicationId }, body, turn }) => ({
        data: await answerCallMedia(deps, asCaller(actor), sessionId, publicationId, body, turn),
      }),
    )

    app.post(
      '/calls/:sessionId/recording',
      {
        config: recording('ERR_CALL_RECORDING_UNAVAILABLE'),
        schema: {
          operationId: 'startCallRecording',
          tags,
          summary: 'Record a call',
          description:
            'Records what each device sends from now on, also of devices that join later. For the app and for users who may end the call. Devices in the call see it in `recording` of its media.',
          params: SessionParams,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params }) => ({
        data: await startCallRecording(deps, actor, params.sessionId),
      }),
    )

    app.delete(
      '/calls/:sessionId/recording',
      {
        config: recording(),
        schema: {
          operationId: 'stopCallRecording',
          tags,
          summary: 'Stop recording a call',
          description:
            'Recordings are in the record of the call a while later. They also end with the call.',
          params: SessionParams,
          response: { 200: Data(CallRecord) },
        },
      },
      async ({ actor, params }) => ({
        data: await stopCallRecording(deps, actor, params.sessionId),
      }),
    )
  }
