/** docs/realtime.md: how devices talk to the gateway, generated from the tables of `protocol`. */
import {
  audiences,
  clientFrames,
  closeCodes,
  type EventType,
  realtimeLimits,
  serverFrames,
} from '@loquat/protocol'
import type { TSchema } from 'typebox'

type Frames = Record<string, { summary: string; body?: TSchema }>

const LIMITS: Record<keyof typeof realtimeLimits, string> = {
  authSeconds: 'Seconds within which the client must send `auth`.',
  frameBytes: 'The largest client frame, in bytes. A larger one closes the connection with 1009.',
  framesPerSecond:
    'Client frames per second; bursts may be twice as large. Frames above the limit are dropped, and the client gets `session.throttled`. A client that keeps sending more than twice as many is closed with 4529 after 200 excess frames.',
  heartbeatSeconds: 'An idle client sends `ping` this often, in seconds.',
  silenceSeconds: 'Seconds without any frame after which either side drops the connection.',
  typingSeconds: 'Seconds after which a typing indicator ends unless it is repeated.',
  ephemeralUsers:
    'In groups with more users online at one gateway, typing indicators and transient messages are skipped.',
  ephemeralBytes:
    'Bytes of JSON in the `data` of a transient message and in the `metadata` of a typing indicator.',
  signalBytes: 'Bytes of JSON in the `data` of a `call.signal`.',
  ephemeralUserRate:
    "Bytes per second that a gateway sends for one user's transient messages, signals of calls and typing indicators, counted for each connection that receives them. Frames above the limit are dropped, and the sender gets `session.throttled`.",
  ephemeralAppRate: 'The same limit for all users of an app.',
  queueBytes: 'Unsent bytes after which a client that does not read is closed with 4510.',
  resumeEvents:
    'Missed events that are sent when a client resumes. After more, it gets `session.reload`.',
  resumeBytes: 'The same limit in bytes.',
}

const INTRO = `Devices connect to \`wss://{appId}.realtime-{region}.<host>/v3/realtime\`, or to \`/v3/realtime?appId={appId}\` on the
bare host, and receive their user's events as they happen. Frames are JSON texts: \`{"type", "id"?, "body"}\` from the
client, \`{"type", "position"?, "at"?, "id"?, "body"}\` from the gateway. The gateway answers a frame that has an \`id\`
with \`session.ok\` or \`session.error\` and the same \`id\`. An \`id\` is a string of up to 100 characters; a frame with any
other \`id\` gets a \`session.error\` without one.`

const RULES = `1. Send \`auth\` first, with the position of the last event that you processed, if there is one. Store the
   largest \`position\` you have received together with the effects of its event, in one step.
2. After \`session.ready\`, continue. If \`resumed\` is true, the events that you missed follow first, in order, each
   once. If it is false, store \`body.position\` as your position.
3. After \`session.reload\`, store \`body.position\` as your position, then read your lists again over REST. You missed
   too many events, or the log no longer holds them. Rarely, the gateway also sends it later, when the user's groups
   changed while the device connected. Events that arrive meanwhile may repeat what the lists already show.
4. Send \`ping\` if you have sent nothing for ${realtimeLimits.heartbeatSeconds} seconds. If you have received nothing for ${realtimeLimits.silenceSeconds} seconds, close the
   connection and reconnect.
5. After the close codes 4400 to 4499, 1002, 1003, 1007, 1008 and 1009, don't reconnect without a change. After any
   other code, reconnect after 1, 2, 4 … 30 seconds, with half of each delay random, and resume. Start again at 1
   second once a connection has lasted 30 seconds.
6. Recognize the echo of a message that you sent by its \`muid\`.
7. Events arrive in the order of their positions. The gateway may combine group receipts in \`conversation.receipts\`,
   which contains the frames that it would otherwise send one by one. Positions have gaps, because a device doesn't
   receive other users' events.
8. Ignore unknown types and fields. End a typing indicator after ${realtimeLimits.typingSeconds} seconds without another \`typing.start\`.
9. To show who is online, send \`presence.subscribe\` and then read the list, in this order, after each connect.
   Presence changes that you missed are not sent again.`

export function realtimePage(note: string): string {
  return [
    '# Realtime',
    note,
    INTRO,
    '## How a client behaves',
    RULES,
    '## Client frames',
    table(clientFrames),
    '## Gateway frames',
    'The gateway also sends each event of [events.md](events.md) that has an audience, as a frame of that type. The body is the payload, without `@private` in `metadata`.',
    table(serverFrames),
    '## Who receives which event',
    'Members are those at the position of the event. Live events use the blocks in force at that position; missed events use the blocks in force when the client resumes.',
    ['| event | audience |', '| --- | --- |', ...audienceRows()].join('\n'),
    '## Close codes',
    codes(),
    '## Limits',
    limits(),
  ]
    .join('\n\n')
    .concat('\n')
}

function table(frames: Frames): string {
  const rows = Object.entries(frames).map(([type, { summary, body }]) => {
    const { properties = {}, required = [] } = (body ?? {}) as {
      properties?: object
      required?: string[]
    }
    const fields = Object.keys(properties).map(
      (name) => `\`${name}${required.includes(name) ? '' : '?'}\``,
    )
    return `| \`${type}\` | ${summary} | ${fields.join(', ')} |`
  })
  return ['| type | meaning | body |', '| --- | --- | --- |', ...rows].join('\n')
}

const audienceRows = () =>
  Object.entries(audiences).map(([type, { who }]) => `| \`${type as EventType}\` | ${who} |`)

function codes(): string {
  const rows = Object.entries(closeCodes).map(
    ([code, { name, summary }]) =>
      `| ${code} | ${name} | ${Number(code) >= 4500 ? 'yes' : 'no'} | ${summary} |`,
  )
  return ['| code | name | reconnect | when |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function limits(): string {
  const rows = Object.entries(LIMITS).map(
    ([name, text]) => `| ${realtimeLimits[name as keyof typeof realtimeLimits]} | ${text} |`,
  )
  return ['| value | meaning |', '| --- | --- |', ...rows].join('\n')
}
