/** docs/realtime.md: how devices talk to the gateway, from the tables of `protocol`. */
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
  authSeconds: 'Seconds until the first frame, `auth`, must have come.',
  frameBytes: 'Bytes of a frame of a client; a larger one closes the connection with 1009.',
  framesPerSecond:
    'Frames of a client a second, twice as many at once. More are left out, with `session.throttled`; who goes on with more than twice as many is closed with 4529, once 200 came beyond that.',
  heartbeatSeconds: 'A client that has nothing to say sends `ping` this often, in seconds.',
  silenceSeconds: 'Seconds without a sign of life after which either side drops the connection.',
  typingSeconds: 'Seconds after which typing has ended unless it was told again.',
  momentUsers:
    'Users of a group that are online at a gateway: where there are more, it tells them of no typing and no transient message.',
  queueBytes: 'Bytes that may wait for a client that does not read, before 4510.',
  resumeEvents: 'Events that are sent again; of more, `session.reload` tells.',
  resumeBytes: 'Bytes of those events; of more, the same.',
}

const INTRO = `Devices connect to \`wss://{appId}.realtime-{region}.<host>/v3/realtime\`, or to \`/v3/realtime?appId={appId}\` of the bare host, and are told what
concerns their user as it happens. Frames are JSON texts: \`{"type", "id"?, "body"}\` from the client, \`{"type", "position"?, "at"?, "id"?, "body"}\` from the gateway. A frame with an
\`id\` is answered with \`session.ok\` or \`session.error\` and the same \`id\`: a text of up to 100 characters; a frame with any other is refused, by a \`session.error\` without one.`

const RULES = `1. Send \`auth\` first, with the position of the last event that was dealt with, if there is one. Keep the largest \`position\` that came, with what it told, in one step.
2. \`session.ready\`: go on. With \`resumed\`, what was missed follows first, in order, each event once. Take \`body.position\` for the own one only if \`resumed\` is false.
3. \`session.reload\`: too much was missed, or it is no longer kept; seldom also later, when what concerned the user changed while it connected. Take \`body.position\` for the own one, then read the lists anew by REST; events that come meanwhile may tell what the lists show already.
4. Send \`ping\` whenever nothing was sent for ${realtimeLimits.heartbeatSeconds} s. Nothing heard for ${realtimeLimits.silenceSeconds} s: close, and connect again.
5. Closed with 4400 to 4499, or with 1002, 1003, 1007, 1008, 1009: do not come back as you are. Else connect again after 1, 2, 4 … 30 s, half of each by chance, and resume; begin with 1 s again once a connection lasted 30 s.
6. A device knows the echo of a message that it sent itself by its \`muid\`.
7. Events come in the order of their positions. Receipts of groups can come together in \`conversation.receipts\`, where each is the frame that it would be alone. Positions have holes for a device: what others alone are told is left out.
8. Ignore types and fields that you do not know. End typing by yourself after ${realtimeLimits.typingSeconds} s without another \`typing.start\`.
9. To know who is online: subscribe by \`presence.subscribe\`, then read the list, in this order, after each connect. Changes that were missed are not sent again.`

export function realtimePage(note: string): string {
  return [
    '# Realtime',
    note,
    INTRO,
    '## How a client behaves',
    RULES,
    '## Frames of a client',
    table(clientFrames),
    '## Frames of the gateway',
    'Beside these, each event of [events.md](events.md) that somebody is told of is a frame of its type, with the payload as body, without what `metadata` keeps in `@private`.',
    table(serverFrames),
    '## Who is told what',
    'Members and users as they were at the position of the event. Blocks too, of what is told as it happens; what is sent again when a client resumes goes by the blocks of then.',
    ['| event | who |', '| --- | --- |', ...told()].join('\n'),
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

const told = () =>
  Object.entries(audiences).map(([type, { who }]) => `| \`${type as EventType}\` | ${who} |`)

function codes(): string {
  const rows = Object.entries(closeCodes).map(
    ([code, { name, summary }]) =>
      `| ${code} | ${name} | ${Number(code) >= 4500 ? 'yes' : 'no'} | ${summary} |`,
  )
  return ['| code | name | come back | when |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function limits(): string {
  const rows = Object.entries(LIMITS).map(
    ([name, text]) => `| ${realtimeLimits[name as keyof typeof realtimeLimits]} | ${text} |`,
  )
  return ['| value | of what |', '| --- | --- |', ...rows].join('\n')
}
