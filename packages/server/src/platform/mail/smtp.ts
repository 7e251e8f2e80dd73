import { connect, isIP, type Socket } from 'node:net'
import {
  createTransport,
  type SMTPPoolOptions,
  type SMTPPoolSentMessageInfo,
  type Transporter,
} from 'nodemailer'
import { ForbiddenTarget, type Targets } from '../net/targets.ts'
import { DELIVERED, gone, type Outcome, refused, retry } from '../push/notification.ts'
import { NO_ADDRESS } from './bounce.ts'
import { type Email, oneLine, type SmtpCredentials } from './email.ts'
import type { MailLimits } from './limits.ts'
import { NoAnswer } from './no-answer.ts'

/** Emails of one connection. Servers close connections that never end. */
const EMAILS_PER_CONNECTION = 100

const ENHANCED = /\b5\.\d{1,3}\.\d{1,3}\b/

/** What nodemailer says about a failure. */
interface SmtpError extends Error {
  code?: string
  responseCode?: number
  response?: string
  command?: string
}

/** A mail server with one login. Nothing is sent without TLS and a valid certificate. */
export class Smtp {
  readonly #transport: Transporter<SMTPPoolSentMessageInfo, SMTPPoolOptions>
  readonly #limits: MailLimits

  constructor(credentials: SmtpCredentials, targets: Targets, limits: MailLimits) {
    const { host, port, implicitTls, login, dkim } = credentials
    this.#limits = limits
    const options: SMTPPoolOptions & { pool: true } = {
      pool: true,
      ...{ host, port, secure: implicitTls, requireTLS: true },
      tls: {
        minVersion: 'TLSv1.2',
        rejectUnauthorized: true,
        ...(!isIP(host) && { servername: host }),
      },
      ...(login && { auth: { user: login.username, pass: login.password }, forceAuth: true }),
      ...(dkim && {
        dkim: {
          ...{ domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.privateKey },
          // What mail servers add or change on the way must not break the signature.
          skipFields: 'message-id:date',
        },
      }),
      ...{ maxConnections: limits.connections, maxMessages: EMAILS_PER_CONNECTION, maxRequeues: 1 },
      ...{ connectionTimeout: limits.connectMs, greetingTimeout: limits.connectMs },
      ...{ socketTimeout: limits.silenceMs, idleTimeout: limits.idleMs },
      // Content comes from users: it must never make this process read a file or call a URL.
      ...{ disableFileAccess: true, disableUrlAccess: true, logger: false },
      getSocket: (_options, done) => {
        void open(targets, { host, port, timeoutMs: limits.connectMs }).then(
          (connection) => done(null, { connection }),
          (error: Error) => done(error),
        )
      },
    }
    this.#transport = createTransport(options)
    // Failures reach those who wait for an email. Without a listener, one of an idle connection would end the process.
    this.#transport.on('error', () => {})
  }

  /** Fails with `NoAnswer`. */
  async send(email: Email): Promise<Outcome> {
    const { timeoutMs } = this.#limits
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => reject(new NoAnswer(`no answer within ${timeoutMs / 1000} s`)),
      timeoutMs,
    )
    try {
      await Promise.race([this.#transport.sendMail(messageOf(email)), late])
      return DELIVERED
    } catch (error) {
      return outcomeOf(error as SmtpError)
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    // Also connections whose server only pretends to answer.
    this.#transport.close({ force: true })
  }
}

const named = ({ name, address }: { name?: string; address: string }) => ({
  name: oneLine(name ?? ''),
  address,
})

const messageOf = ({ messageId, from, to, replyTo, bounceTo, subject, ...email }: Email) => ({
  messageId: `<${messageId}>`,
  from: named(from),
  to: named(to),
  ...(replyTo && { replyTo: named(replyTo) }),
  envelope: { from: bounceTo ?? from.address, to: [to.address] },
  subject: oneLine(subject),
  ...{ text: email.text, html: email.html },
  headers: Object.fromEntries(
    Object.entries(email.headers).map(([name, given]) => {
      const value = oneLine(given)
      // Those with ids of emails have a form of their own. Others, such as links, must not be folded or encoded.
      return [name, THREADING.has(name) ? value : { prepared: true, value }]
    }),
  ),
})

const THREADING = new Set(['References', 'In-Reply-To'])

function outcomeOf(error: SmtpError): Outcome {
  if (error instanceof NoAnswer) throw error
  if (error instanceof ForbiddenTarget) return refused(error.message)
  const { responseCode: status, response = '', code = '', command = '' } = error
  const reason = oneLine(response || error.message).slice(0, 300)
  if (!status) {
    if (code === 'ETIMEDOUT') throw new NoAnswer(reason)
    // An address that can't be written in SMTP.
    return code === 'EENVELOPE' ? gone(reason) : retry(reason)
  }
  if (status < 500) return retry(reason)
  const noAddress = command === 'RCPT TO' && (NO_ADDRESS.test(response) || !ENHANCED.test(response))
  return noAddress && status !== 552 ? gone(reason) : refused(reason)
}

interface Place {
  host: string
  port: number
  timeoutMs: number
}

/** Connects only to addresses that tenants may reach. */
async function open(targets: Targets, { host, port, timeoutMs }: Place): Promise<Socket> {
  const fault = targets.shapeFaultOf(`https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`)
  if (fault) throw new ForbiddenTarget(`the host ${fault}`)
  const { lookup } = targets
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host, port, ...(lookup && { lookup }) })
  const timer = setTimeout(
    () => socket.destroy(new NoAnswer(`no connection within ${timeoutMs / 1000} s`)),
    timeoutMs,
  )
  socket.once('error', reject)
  socket.once('connect', () => {
    socket.off('error', reject)
    resolve(socket)
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
