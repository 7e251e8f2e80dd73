import type { Answer, Outbound } from '../net/outbound.ts'
import { contentOf } from '../push/call.ts'
import {
  DELIVERED,
  gone,
  type Outcome,
  refused,
  retry,
  retryAfterMs,
} from '../push/notification.ts'

export interface TwilioCredentials {
  accountSid: string
  authToken: string
  /** The sender's number. */
  from: string
}

export interface TwilioOptions {
  url: string
  outbound: Outbound
  timeoutMs?: number
  now?: () => number
}

const TIMEOUT_MS = 10_000
const ANSWER_BYTES = 4_000
/** Not a number, not one that gets SMS, or one whose owner wrote STOP. */
const NO_NUMBER = new Set([21211, 21214, 21217, 21614, 21610])

/** Sends one SMS through Twilio. Never throws for anything that Twilio, the credentials or the number cause. */
export async function sendSms(
  { accountSid, authToken, from }: TwilioCredentials,
  { to, text }: { to: string; text: string },
  { url, outbound, timeoutMs = TIMEOUT_MS, now = Date.now }: TwilioOptions,
): Promise<Outcome> {
  const body = new URLSearchParams({ To: to, From: from, Body: text }).toString()
  const login = Buffer.from(`${accountSid}:${authToken}`).toString('base64')
  const headers = {
    authorization: `Basic ${login}`,
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Loquat',
  }
  const path = `/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`
  try {
    const call = { headers, body, timeoutMs, answerBytes: ANSWER_BYTES }
    return outcomeOf(await outbound.post(`${url}${path}`, call), now())
  } catch (error) {
    return retry((error as Error).message)
  }
}

function outcomeOf({ status, headers, body }: Answer, now: number): Outcome {
  if (status >= 200 && status <= 299) return DELIVERED
  const { code, message } = contentOf(body.toString('utf8'))
  const reason = typeof message === 'string' ? message.slice(0, 300) : `status ${status}`
  if (NO_NUMBER.has(code)) return gone(reason)
  return status === 429 || status === 408 || status >= 500
    ? retry(reason, retryAfterMs(headers['retry-after'], now))
    : refused(reason)
}
