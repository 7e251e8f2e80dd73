import {
  CALL_MODES,
  CALL_STATUSES,
  CALL_TYPES,
  RecordingRecord,
  TranscriptionRecord,
} from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { UUID } from '../../core/uuid.ts'
import { Id, Nullable, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Minutes = (description: string) => Type.Number({ minimum: 0, description })

export const CallParticipant = Type.Object(
  {
    uid: Type.String(),
    isJoined: Type.Boolean({ description: 'Whether this device has joined the call.' }),
    state: Type.Enum(['ongoing', 'ended', 'unanswered', 'rejected'], {
      description: '`unanswered` also while the call rings.',
    }),
    joinedAt: Type.Optional(Timestamp('Time when the device joined, in Unix seconds.')),
    leftAt: Type.Optional(Timestamp('Time when it left, in Unix seconds.')),
    totalAudioMinutes: Minutes('Minutes in an audio call.'),
    totalVideoMinutes: Minutes('Minutes in a video call.'),
    totalDuration: Minutes('Both together.'),
    deviceId: Type.Optional(Type.String({ description: 'As the device sent it.' })),
    mid: Type.Optional(Type.String({ description: 'The meeting, if the device joined.' })),
    sends: Type.Optional(
      Type.Boolean({
        description: 'In the mode `presenter`: whether this user sends audio and video.',
      }),
    ),
  },
  { additionalProperties: false, 'x-component': 'CallParticipant' },
)
export type CallParticipant = Static<typeof CallParticipant>

export const CallRecord = Type.Object(
  {
    sessionId: Type.String(),
    type: Type.Enum([...CALL_TYPES]),
    mode: Type.Enum([...CALL_MODES], {
      description: '`call` rings, `meet` does not, and in `presenter` only the caller sends.',
    }),
    status: Type.Enum([...CALL_STATUSES]),
    receiverType: Type.Enum(['user', 'group']),
    receiver: Type.String({ description: 'UID or GUID.' }),
    initiator: Type.String({ description: 'UID of the caller.' }),
    initiatedAt: Timestamp('Time when it was started, in Unix seconds.'),
    startedAt: Type.Optional(Timestamp('Time when it was answered, in Unix seconds.')),
    endedAt: Type.Optional(Timestamp('Time when an answered call ended, in Unix seconds.')),
    totalAudioMinutes: Minutes('Of all participants.'),
    totalVideoMinutes: Minutes('Of all participants.'),
    totalDurationInMinutes: Minutes('Both together.'),
    totalDuration: Type.String({ description: 'From the answer to the end, as `HH:MM:SS`.' }),
    totalParticipants: Type.Integer({
      description: 'How many devices joined. One person on two devices counts twice.',
    }),
    hasRecording: Type.Boolean(),
    hasTranscription: Type.Boolean(),
    mid: Type.String({ description: 'Id of the meeting.' }),
    participants: Type.Array(CallParticipant),
    recordings: Type.Optional(
      Type.Array(RecordingRecord, { description: 'The newest first, if there are any.' }),
    ),
    transcriptions: Type.Optional(
      Type.Array(TranscriptionRecord, { description: 'The five newest, if there are any.' }),
    ),
  },
  { additionalProperties: false, 'x-component': 'CallRecord' },
)
export type CallRecord = Static<typeof CallRecord>

const Second = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999_999_999, description }))

export const CallListQuery = PageQuery({
  type: Type.Optional(Type.Enum([...CALL_TYPES])),
  mode: Type.Optional(Type.Enum([...CALL_MODES])),
  status: Type.Optional(
    Type.Enum([...CALL_STATUSES, 'canceled'], { description: '`canceled` means `cancelled`.' }),
  ),
  receiverType: Type.Optional(Type.Enum(['user', 'group'])),
  participantsCount: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000, description: 'How many devices joined.' }),
  ),
  startedAt: Second('Only calls that were answered at this time or later, in Unix seconds.'),
  endedAt: Second('Only calls that ended at this time or earlier, in Unix seconds.'),
  hasRecording: Type.Optional(Type.Boolean()),
  hasTranscription: Type.Optional(Type.Boolean()),
  uid: Type.Optional(Id('Only calls of this user.')),
})
export type CallListQuery = Static<typeof CallListQuery>

export const TranscriptionQuery = PageQuery({})

export const NewTranscription = Type.Object({
  fileId: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'A file of the app that is `ready`, with the transcript.',
  }),
  mid: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Id of the meeting. Leave it out if the transcript is about the whole session.',
    }),
  ),
  startTime: Second('Start of the transcript, in Unix seconds. Defaults to the start of the call.'),
  endTime: Second('End of the transcript, in Unix seconds. Defaults to the end of the call.'),
})
export type NewTranscription = Static<typeof NewTranscription>

export const SessionParams = Type.Object({
  sessionId: Type.String({ maxLength: 200, description: 'Session id of the call.' }),
})

const DeviceId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 100,
    description:
      "The device's own id. Its user's other devices learn from it that they may stop ringing.",
  }),
)

export const NewCall = Type.Object({
  receiver: Id('UID or GUID.'),
  receiverType: Type.Optional(Type.Enum(['user', 'group'], { description: '`user` by default.' })),
  type: Type.Enum([...CALL_TYPES]),
  mode: Type.Optional(
    Type.Enum([...CALL_MODES], {
      description:
        '`call`, the default, rings for 45 seconds. `meet` starts at once, without ringing. `presenter` rings, and only the caller sends.',
    }),
  ),
  deviceId: DeviceId,
})
export type NewCall = Static<typeof NewCall>

export const JoinBody = Nullable(
  Type.Object({
    deviceId: DeviceId,
    transfer: Type.Optional(
      Type.Boolean({
        description: 'Moves the call to this device, if the user is in it on another one.',
      }),
    ),
  }),
)
export type JoinBody = Static<typeof JoinBody>

export const LeaveBody = Nullable(Type.Object({ deviceId: DeviceId }))
export type LeaveBody = Static<typeof LeaveBody>

export const RejectBody = Nullable(
  Type.Object({
    status: Type.Optional(
      Type.Enum(['rejected', 'busy'], {
        description:
          '`rejected` by default; `busy` if the device is in a call of another app, for 1:1 calls.',
      }),
    ),
  }),
)
export type RejectBody = Static<typeof RejectBody>

export const Publication = Type.Object(
  {
    id: Type.String(),
    uid: Type.String(),
    deviceId: Type.Optional(Type.String({ description: 'As the device sent it.' })),
    source: Type.Enum(['camera', 'screen'], {
      description: '`camera` contains the microphone, and in audio calls nothing else.',
    }),
    audio: Type.Boolean({ description: 'Whether the microphone is on.' }),
    video: Type.Boolean({ description: 'Whether the camera is on, or the screen is shared.' }),
  },
  { additionalProperties: false, 'x-component': 'Publication' },
)

export const CallMedia = Type.Object(
  {
    version: Type.Integer({
      description: 'Grows with each change. Ignore lists with an older version.',
    }),
    recording: Type.Boolean({ description: 'Whether what devices send is recorded.' }),
    publications: Type.Array(Publication, { description: 'What devices in the call send.' }),
    iceServers: Type.Array(
      Type.Object(
        {
          urls: Type.Array(Type.String()),
          username: Type.Optional(Type.String()),
          credential: Type.Optional(Type.String({ description: 'Expires after an hour.' })),
        },
        { additionalProperties: false },
      ),
      { description: 'For `RTCPeerConnection`.' },
    ),
  },
  { additionalProperties: false, 'x-component': 'CallMedia' },
)
export type CallMedia = Static<typeof CallMedia>

export const MediaServerRecord = Type.Object(
  {
    name: Type.String({
      description: 'Names the server in this installation. Its address stays secret.',
    }),
    region: Type.Optional(
      Type.String({ description: 'It carries calls of this region only. Absent: of all regions.' }),
    ),
    state: Type.Enum(['available', 'drained', 'unreachable'], {
      description:
        '`drained`: it keeps its calls, but gets no new ones. `unreachable`: it does not answer.',
    }),
    calls: Type.Integer({ description: "How many of the app's calls are on it now." }),
  },
  { additionalProperties: false, 'x-component': 'MediaServer' },
)
export type MediaServerRecord = Static<typeof MediaServerRecord>

/** A description of a video session with many codecs and candidates. */
const MAX_SDP = 60_000

const Sdp = (description: string) => Type.String({ minLength: 1, maxLength: MAX_SDP, description })

const OwnDevice = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The device that is in the call. Required if it joined with one.',
  }),
)

const Sending = {
  audio: Type.Boolean({ description: 'Whether the microphone is on.' }),
  video: Type.Boolean({ description: 'Whether the camera is on, or the screen is shared.' }),
}

export const NewPublication = Type.Object({
  deviceId: OwnDevice,
  source: Type.Enum(['camera', 'screen']),
  ...Sending,
  sdp: Sdp("The device's offer, with all its candidates."),
})
export type NewPublication = Static<typeof NewPublication>

export const SendingBody = Type.Object({ deviceId: OwnDevice, ...Sending })
export type SendingBody = Static<typeof SendingBody>

export const SubscribeBody = Type.Object({ deviceId: OwnDevice })
export type SubscribeBody = Static<typeof SubscribeBody>

export const AnswerBody = Type.Object({
  deviceId: OwnDevice,
  sdp: Sdp("The device's answer, with all its candidates."),
})
export type AnswerBody = Static<typeof AnswerBody>

export const Negotiated = Type.Object(
  {
    publicationId: Type.String(),
    version: Type.Integer({ description: 'Lists of media from this version on contain it.' }),
    sdp: Type.String({ description: "The media server's description, with all its candidates." }),
  },
  { additionalProperties: false, 'x-component': 'NegotiatedMedia' },
)
export type Negotiated = Static<typeof Negotiated>

export const PublicationParams = Type.Object({
  ...SessionParams.properties,
  publicationId: Type.String({ pattern: UUID, description: 'Id of what a device sends.' }),
})
