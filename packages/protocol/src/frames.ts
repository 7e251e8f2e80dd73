import { type Static, type TSchema, Type } from 'typebox'
import { UserSnapshot } from './records.ts'

/** Limits that the gateway and its clients follow. */
export const realtimeLimits = {
  /** The first frame must arrive within this time. */
  authSeconds: 5,
  /** The largest frame that a client may send. */
  frameBytes: 16_384,
  /** Frames that a client may send per second, on average. Bursts may be twice as large. */
  framesPerSecond: 20,
  /** An idle client sends `ping` this often. */
  heartbeatSeconds: 25,
  /** Either side drops a connection on which it received nothing for this long. */
  silenceSeconds: 60,
  /** A typing indicator that isn't repeated within this time ends. */
  typingSeconds: 5,
  /** Typing indicators and transient messages are skipped in groups with more users online at a gateway. */
  ephemeralUsers: 1_000,
  /** The most bytes of JSON in `data` of a transient message and `metadata` of a typing indicator. */
  ephemeralBytes: 2_048,
  /** The most bytes of JSON in `data` of a signal of a call: descriptions of video sessions are long. */
  signalBytes: 12_288,
  /** Bytes of these frames per second, times the connections that receive them, that a gateway sends for one user. */
  ephemeralUserRate: 1_000_000,
  /** The same for all users of an app. */
  ephemeralAppRate: 20_000_000,
  /** The most unsent bytes that may be queued for a client. */
  queueBytes: 1_048_576,
  /** If a client missed more events than this, it must reload its lists. */
  resumeEvents: 1_000,
  /** The same limit in bytes. */
  resumeBytes: 4_194_304,
} as const

interface FrameDefinition {
  summary: string
  body?: TSchema
}

const Receiver = {
  receiverType: Type.Enum(['user', 'group']),
  receiver: Type.String({ minLength: 1, maxLength: 100, description: 'UID or GUID.' }),
}
const FreeData = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description })
const Typing = Type.Object({
  ...Receiver,
  metadata: Type.Optional(FreeData('Any data for the receivers: at most 2,048 bytes of JSON.')),
})
const Mark = Type.Object({
  ...Receiver,
  messageId: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,16}$', description: 'Defaults to the newest message.' }),
  ),
})
const Transient = Type.Object({
  ...Receiver,
  data: FreeData('Any data for the receivers: at most 2,048 bytes of JSON.'),
})
const Signal = {
  sessionId: Type.String({ minLength: 1, maxLength: 200, description: 'The call.' }),
  deviceId: Type.Optional(
    Type.String({ maxLength: 100, description: 'The device that sends it, as in the call.' }),
  ),
  toDeviceId: Type.Optional(
    Type.String({ maxLength: 100, description: 'The device that it is for. Others ignore it.' }),
  ),
  data: FreeData('A description (SDP) or a candidate (ICE): at most 12,288 bytes of JSON.'),
}
const Watch = Type.Object({
  users: Type.Enum(['all', 'roles', 'friends', 'none']),
  roles: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 25,
      description: 'Required if `users` is `roles`: users with one of these roles.',
    }),
  ),
})
const Label = (description: string) => Type.String({ minLength: 1, maxLength: 50, description })
const Position = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Every frame that a client can send. The answer echoes its `id`, if it has one. */
export const clientFrames = {
  auth: {
    summary: 'The first frame: authenticates the client and says where to resume.',
    body: Type.Object({
      authToken: Type.String({ minLength: 1, maxLength: 500 }),
      position: Type.Optional({
        ...Position,
        description:
          'The position of the last event that the client has processed. Later events are sent.',
      }),
      resource: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'Identifies the device. Each device of a user has one connection.',
        }),
      ),
      platform: Type.Optional(
        Label(
          'The platform of the device, such as `ios`, `android` or `web`, for `user.connection.changed`.',
        ),
      ),
      appInfo: Type.Optional(
        Type.Object(
          {
            version: Type.Optional(Label('The version of your app.')),
            apiVersion: Type.Optional(Label('The version of the API that your app uses.')),
          },
          { description: 'Your app, for `user.connection.changed`. Other fields are ignored.' },
        ),
      ),
    }),
  },
  ping: { summary: 'Keeps the connection alive. The answer is `pong`.' },
  'typing.start': {
    summary: 'The user is typing. Repeat it while the user types, at most every 2 seconds.',
    body: Typing,
  },
  'typing.end': { summary: 'The user stopped typing.', body: Typing },
  'receipt.delivered': { summary: 'Marks messages as delivered, as in REST.', body: Mark },
  'receipt.read': { summary: 'Marks messages as read, as in REST.', body: Mark },
  'message.transient': {
    summary: 'Data for users who are connected now. It is not stored.',
    body: Transient,
  },
  'call.signal': {
    summary:
      'Data for another user in the same call, with which two devices connect for audio and video. It is not stored.',
    body: Type.Object({
      ...Signal,
      to: Type.String({ minLength: 1, maxLength: 100, description: 'UID of the other user.' }),
    }),
  },
  'call.alive': {
    summary:
      'The device is still in the call. Optional: a device that has sent it once, and then not for 15 seconds, is taken out of the call. Send it every 5 seconds.',
    body: Type.Object({
      sessionId: Type.String({ minLength: 1, maxLength: 200, description: 'The call.' }),
      deviceId: Type.String({ minLength: 1, maxLength: 100, description: 'As in the call.' }),
    }),
  },
  'presence.subscribe': {
    summary:
      'Subscribes this connection to the presence of all users, of users with some roles, of friends, or of nobody (default).',
    body: Watch,
  },
} satisfies Record<string, FrameDefinition>

export type ClientFrameType = keyof typeof clientFrames
type ClientBody<T extends ClientFrameType> = (typeof clientFrames)[T] extends {
  body: infer S extends TSchema
}
  ? Static<S>
  : Record<string, never>
export type ClientFrame<T extends ClientFrameType = ClientFrameType> = {
  [K in T]: { type: K; id?: string; body: ClientBody<K> }
}[T]

const Sender = { sender: UserSnapshot }
const Failure = Type.Object({
  code: Type.String(),
  message: Type.String(),
  details: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
})

const agentEvents = [
  ...(['run_started', 'tool_call_start', 'tool_call_args', 'tool_call_end'] as const),
  ...(['tool_call_result', 'text_message_start', 'text_message_content'] as const),
  'text_message_end' as const,
  ...(['run_waiting', 'run_resumed', 'run_finished', 'run_error'] as const),
] as const

/** The frames that the gateway sends in addition to the events of docs/events.md. */
export const serverFrames = {
  'session.ready': {
    summary:
      'The answer to `auth`. Events after `position` follow. If `resumed` is true, the events that the client missed come first.',
    body: Type.Object({
      uid: Type.String(),
      position: Position,
      resumed: Type.Boolean(),
    }),
  },
  'session.reload': {
    summary:
      'The client missed too many events, or the log no longer holds them. Read the lists again. Events after `position` follow.',
    body: Type.Object({ uid: Type.String(), position: Position }),
  },
  'session.ok': { summary: 'A frame with an `id` was executed.' },
  'session.error': {
    summary: 'A frame was rejected, with a code from docs/errors.md.',
    body: Failure,
  },
  'session.throttled': {
    summary:
      'The client sends too many frames; those above the limit are dropped. Sent at most once a second.',
  },
  pong: { summary: 'The answer to `ping`.' },
  'conversation.receipts': {
    summary:
      'The `conversation.delivered` and `conversation.read` frames of other group members, collected for a second. `position` is that of the last one.',
    body: Type.Object({ receipts: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
  },
  'typing.start': {
    summary: 'A user is typing. The indicator ends after some seconds unless it is repeated.',
    body: Type.Object({ ...Sender, ...Typing.properties }),
  },
  'typing.end': {
    summary: 'A user stopped typing.',
    body: Type.Object({ ...Sender, ...Typing.properties }),
  },
  'message.transient': {
    summary: 'Data that a user sent to connected users.',
    body: Type.Object({ ...Sender, ...Transient.properties }),
  },
  'agent.event': {
    summary:
      'What an agent does to answer the user, while it does it. Nothing of it is stored or repeated: after a gap, get the run.',
    body: Type.Object({
      type: Type.Enum([...agentEvents]),
      agentUid: Type.String({ description: 'UID of the agent. In a group there can be several.' }),
      conversationId: Type.String(),
      messageId: Type.String({ description: 'Id of the message with the question.' }),
      parentMessageId: Type.Optional(Type.String({ description: 'If the question is a reply.' })),
      runId: Type.String(),
      threadId: Type.String({ description: 'Id of the first message of the thread.' }),
      timestamp: Type.Integer({ description: 'Unix milliseconds.' }),
      attempt: Type.Optional(
        Type.Integer({
          description: 'Counts calls of the model. Forget the text of earlier ones.',
        }),
      ),
      data: Type.Object({
        delta: Type.Optional(
          Type.String({
            description:
              '`text_message_content`: what comes next. `tool_call_args` and `run_waiting`: the arguments as JSON text.',
          }),
        ),
        offset: Type.Optional(
          Type.Integer({
            description: 'The length of the text before `delta`, in UTF-16 units.',
          }),
        ),
        messageId: Type.Optional(
          Type.String({
            description: '`run_finished`: id of the answer. Absent if moderation holds it.',
          }),
        ),
        reason: Type.Optional(Type.String({ description: '`run_error`: `reason` of the run.' })),
        toolCallId: Type.Optional(
          Type.String({ description: 'Which call of a tool it is about.' }),
        ),
        name: Type.Optional(
          Type.String({ description: '`tool_call_start`, `run_waiting`: name of the tool.' }),
        ),
        displayName: Type.Optional(Type.String({ description: 'What people see of it.' })),
        executionText: Type.Optional(
          Type.String({ description: '`tool_call_start`: what people see while it runs.' }),
        ),
        waitsFor: Type.Optional(
          Type.Enum(['approval', 'device'], {
            description:
              '`run_waiting`: whether the user has to approve the call, or a device has to make it.',
          }),
        ),
        content: Type.Optional(
          Type.String({
            description:
              '`tool_call_result`: the beginning of what it answered. Absent in apps with rules of moderation.',
          }),
        ),
        role: Type.Optional(Type.String({ description: '`tool_call_result`: `tool`.' })),
      }),
    }),
  },
  'call.signal': {
    summary: 'Data that another user in the same call sent.',
    body: Type.Object({ ...Signal, sender: Type.String({ description: 'UID.' }) }),
  },
  'call.media': {
    summary:
      'What the devices in a call send to its media server, after each change. Ignore it if you have seen a higher `version`. Nothing of it is stored or repeated: after a gap, get the media of the call.',
    body: Type.Object({
      sessionId: Type.String(),
      version: Type.Integer(),
      recording: Type.Boolean({ description: 'Whether what devices send is recorded.' }),
      publications: Type.Array(
        Type.Object({
          id: Type.String(),
          uid: Type.String(),
          deviceId: Type.Optional(Type.String()),
          source: Type.Enum(['camera', 'screen']),
          audio: Type.Boolean({ description: 'Whether the microphone is on.' }),
          video: Type.Boolean(),
        }),
      ),
    }),
  },
  'presence.changed': {
    summary:
      'Users who came online or went offline, at most once a second, for devices that subscribed. Users who block the subscriber or are blocked by them are left out.',
    body: Type.Object({
      users: Type.Array(
        Type.Object({
          uid: Type.String(),
          status: Type.Enum(['online', 'offline']),
          lastActiveAt: Type.Optional(Type.Integer({ description: 'Unix seconds.' })),
        }),
      ),
    }),
  },
} satisfies Record<string, FrameDefinition>

export type ServerFrameType = keyof typeof serverFrames
export type ServerBody<T extends ServerFrameType> = (typeof serverFrames)[T] extends {
  body: infer S extends TSchema
}
  ? Static<S>
  : Record<string, never>
