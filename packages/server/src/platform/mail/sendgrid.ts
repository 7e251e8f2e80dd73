import type { Answer, Outbound } from '../net/outbound.ts'
import { contentOf } from '../push/call.ts'
import { DELIVERED, type Outcome, refused, retry, retryAfterMs } from '../push/notification.ts'
import { type Email, type Mailbox, oneLine, type SendgridCredentials } from './email.ts'
import type { MailLimits } from './limits.ts'
import { NoAnswer } from './no-answer.ts'

const ANSWER_BYTES = 4_000

/** SendGrid's v3 API with one key. */
export class Sendgrid {
  readonly #credentials: SendgridCredentials
  readonly #outbound: Outbound
  readonly #url: string
  readonly #limits: MailLimits
  readonly #now: () => number

  constructor(
    credentials: SendgridCredentials,
    options: { outbound: Outbound; url: string; limits: MailLimits; now: () => number },
  ) {
    this.#credentials = credentials
    this.#outbound = options.outbound
    this.#url = `${options.url}/v3/mail/send`
    this.#limits = options.limits
    this.#now = options.now
  }

  /** Fails with `NoAnswer`. */
  async send(email: Email): Promise<Outcome> {
    const body = JSON.stringify(this.#bodyOf(email))
    const headers = {
      authorization: `Bearer ${this.#credentials.apiKey}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'Loquat',
    }
    const { timeoutMs } = this.#limits
    const call = { headers, body, timeoutMs, answerBytes: ANSWER_BYTES }
    const answer = await this.#outbound.post(this.#url, call).catch((error: Error) => {
      throw new NoAnswer(error.message)
    })
    return outcomeOf(answer, this.#now())
  }

  close(): void {}

  #bodyOf({ messageId, from, to, replyTo, subject, text, html, headers, data }: Email) {
    const { templateId, groupId } = this.#credentials
    return {
      personalizations: [
        {
          to: [mailbox(to)],
          subject: oneLine(subject),
          ...(templateId && { dynamic_template_data: { ...data, subject, text, html } }),
        },
      ],
      from: mailbox(from),
      ...(replyTo && { reply_to: mailbox(replyTo) }),
      subject: oneLine(subject),
      content: [
        { type: 'text/plain', value: text },
        { type: 'text/html', value: html },
      ],
      ...(templateId && { template_id: templateId }),
      ...(groupId !== undefined && { asm: { group_id: groupId } }),
      headers: {
        ...Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, oneLine(value)]),
        ),
        'Message-ID': `<${messageId}>`,
      },
      // Links in emails about messages must not lead through somebody else's server.
      tracking_settings: { click_tracking: { enable: false }, open_tracking: { enable: false } },
    }
  }
}

const mailbox = ({ address, name }: Mailbox) => ({
  email: address,
  ...(name && { name: oneLine(name) }),
})

function outcomeOf({ status, headers, body }: Answer, now: number): Outcome {
  if (status >= 200 && status <= 299) return DELIVERED
  const { errors } = contentOf(body.toString('utf8'))
  const message = Array.isArray(errors) ? errors[0]?.message : undefined
  const reason = typeof message === 'string' ? oneLine(message).slice(0, 300) : `status ${status}`
  if (status !== 429 && status !== 408 && status < 500) return refused(reason)
  // Seconds since 1970 at which the key may be used again.
  const reset = Number(headers['x-ratelimit-reset'])
  const untilReset = status === 429 && reset > 0 ? Math.max(0, reset * 1000 - now) : undefined
  return retry(reason, retryAfterMs(headers['retry-after'], now) ?? untilReset)
}
