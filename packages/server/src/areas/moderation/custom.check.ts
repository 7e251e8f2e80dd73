/** Asks an interface of the app's own about a message: conditions of the category `custom-api`. */
import { type Static, Type } from 'typebox'
import { storableStart } from '../../platform/http/characters.ts'
import { matcher } from '../../platform/matcher.ts'
import { postJson } from '../../platform/net/json-call.ts'
import { signatureOf } from '../../platform/net/sign.ts'
import { type CheckSettingsRow, listContext } from './checks.queries.ts'
import {
  type Asked,
  type Asking,
  type CheckHit,
  type Engine,
  NotConfigured,
  type Subject,
} from './engine.ts'

const BYTES = 65_536
/** Moderators see no more of a reason. */
const SHOWN = 1_000

const Answer = Type.Object({
  isMatchingCondition: Type.Boolean(),
  confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  reason: Type.Optional(Type.String()),
})
type Answer = Static<typeof Answer>

const accepts = matcher(Answer)
export const isAnswer = (value: unknown): value is Answer => accepts(value)

/** One request for all conditions: it says nothing about them. */
export const askCustom: Engine = async (asking, subject, [first]) => {
  const { settings, signal, deps } = asking
  const { url, timeout_ms: timeoutMs } = settings
  if (url === null) throw new NotConfigured('the app has no URL for its own check')
  const body = JSON.stringify({ contextMessages: await contextOf(asking, subject) })
  const headers = headersFor(asking, subject, body)
  const answer = (await postJson(deps.outbound, {
    ...{ url, headers, body, timeoutMs, bytes: BYTES, signal, accepts },
  })) as Answer
  return hitOf(first, answer)
}

/** What an answer means for the condition that was asked. */
export function hitOf(asked: Asked, answer: Answer): CheckHit | undefined {
  const { isMatchingCondition, reason = '', confidence } = answer
  if (!isMatchingCondition) return undefined
  const percent = confidence === undefined ? '' : ` (${Math.round(confidence * 100)} %)`
  return { asked, text: `${storableStart(reason, SHOWN)}${percent}`.trim() }
}

/** Earlier texts by their senders, then the message itself. */
export async function contextOf(
  { db, settings }: Asking,
  { appNo, conversation, message }: Subject,
) {
  const limit = settings.context_messages
  const earlier =
    conversation === undefined || limit === 0
      ? []
      : await listContext.many(db, { appNo, conversation, id: message.id, limit })
  return [...earlier.map(({ sender, text }) => ({ [sender]: text })), { [message.sender]: message }]
}

function headersFor({ deps, settings }: Asking, { appNo, appId, message }: Subject, body: string) {
  const { use_basic_auth, username, password_sealed } = settings
  const password =
    use_basic_auth && password_sealed
      ? deps.secrets.open(['check_settings.password', appNo], password_sealed)
      : undefined
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  // The same for all attempts.
  const id = `${appId}_check_${message.id}`
  const timestamp = Math.floor(Date.now() / 1_000)
  const keys = secretsOf(settings).map((sealed) =>
    deps.secrets.open(['check_settings.secret', appNo], sealed),
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(keys.length > 0 && { 'webhook-signature': signatureOf(keys, { id, timestamp, body }) }),
    ...(password !== undefined && { authorization: `Basic ${basic}` }),
  }
}

function secretsOf(row: CheckSettingsRow): Buffer[] {
  const old =
    row.old_secret_until && row.old_secret_until > new Date() ? row.old_secret_sealed : null
  return [row.secret_sealed, old].filter((sealed) => sealed !== null)
}
