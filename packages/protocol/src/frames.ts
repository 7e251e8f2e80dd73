import { type Static, type TSchema, Type } from 'typebox'
import { UserRecord } from './records.ts'

/** What both sides of a connection keep to. */
export const realtimeLimits = {
  /** The first frame must have come by then. */
  authSeconds: 5,
  /** The largest frame of a client. */
  frameBytes: 16_384,
  /** Frames of a client a second, on average; twice as many at once. */
  framesPerSecond: 20,
  /** A client that has nothing to say sends `ping` this often. */
  heartbeatSeconds: 25,
  /** A connection on which nothing was heard for so long is dropped, by either side. */
  silenceSeconds: 60,
  /** Typing that was not told again within this time has ended. */
  typingSeconds: 5,
  /** Typing and transient messages reach groups with up to so many users online at a gateway. */
  momentUsers: 1_000,
  /** What is unsent to a client may take this many bytes. */
  queueBytes: 1_048_576,
  /** More events than this are not sent again: the client reads its lists anew. */
  resumeEvents: 1_000,
  /** The same for their bytes. */
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
  metadata: Type.Optional(FreeData('Free, for whoever receives it.')),
})
const Mark = Type.Object({
  ...Receiver,
  messageId: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,15}$', description: 'The newest one unless given.' }),
  ),
})
const Transient = Type.Object({
  ...Receiver,
  data: FreeData('Free, for whoever receives it.'),
})
const Watch = Type.Object({
  users: Type.Enum(['all', 'roles', 'friends', 'none']),
  roles: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 25,
      description: 'With `roles`, and required there: users who have one of these.',
    }),
  ),
})
const Position = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Every frame that a client can send. `id`, if it has one, is repeated in the answer. */
export const clientFrames = {
  auth: {
    summary: 'The first frame: who connects, and after which position to go on.',
    body: Type.Object({
      authToken: Type.String({ minLength: 1, maxLength: 500 }),
      position: Type.Optional({
        ...Position,
        description: 'Of the last frame that the client has dealt with: what came since is sent.',
      }),
      resource: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'Tells the devices of a user apart; one connection each.',
        }),
      ),
    }),
  },
  ping: { summary: 'A sign of life; answered with `pong`.' },
  'typing.start': {
    summary: 'The user is typing. Repeat it while that lasts, at most every 2 seconds.',
    body: Typing,
  },
  'typing.end': { summary: 'The user no longer types.', body: Typing },
  'receipt.delivered': { summary: 'As marking messages as delivered by REST.', body: Mark },
  'receipt.read': { summary: 'As marking messages as read by REST.', body: Mark },
  'message.transient': {
    summary: 'Data for those who are connected now; it is stored nowhere.',
    body: Transient,
  },
  'presence.subscribe': {
    summary:
      'Be told who comes online and goes: all users, those of some roles, friends, or none, as it is at first. Holds for this connection.',
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

const Sender = { sender: UserRecord }
const Failure = Type.Object({ code: Type.String(), message: Type.String() })

/** What the gateway sends beside the events of docs/events.md. */
export const serverFrames = {
  'session.ready': {
    summary:
      'The answer to `auth`. Events past `position` follow; `resumed`: those since the position that was given come first.',
    body: Type.Object({
      uid: Type.String(),
      position: Position,
      resumed: Type.Boolean(),
    }),
  },
  'session.reload': {
    summary:
      'Instead of what was missed, when that is too much or no longer known: read the lists anew. Events past `position` follow.',
    body: Type.Object({ uid: Type.String(), position: Position }),
  },
  'session.ok': { summary: 'A frame with an `id` was carried out.' },
  'session.error': {
    summary: 'A frame was refused, with a code of docs/errors.md.',
    body: Failure,
  },
  'session.throttled': {
    summary: 'Too many frames: those beyond the limit are left out. Told once a second.',
  },
  pong: { summary: 'The answer to `ping`.' },
  'conversation.receipts': {
    summary:
      'Frames `conversation.delivered` and `conversation.read` of other members of groups, those of a second together. Its `position` is that of the last.',
    body: Type.Object({ receipts: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
  },
  'typing.start': {
    summary: 'A user types. It ends by itself after some seconds without another.',
    body: Type.Object({ ...Sender, ...Typing.properties }),
  },
  'typing.end': {
    summary: 'A user no longer types.',
    body: Type.Object({ ...Sender, ...Typing.properties }),
  },
  'message.transient': {
    summary: 'Data that a user sent to those who are connected.',
    body: Type.Object({ ...Sender, ...Transient.properties }),
  },
  'presence.changed': {
    summary:
      'Users who came online or went, once a second, to those who asked for it. Nobody who blocks the user or is blocked is among them.',
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
