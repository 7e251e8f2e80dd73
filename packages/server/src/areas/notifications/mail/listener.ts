/** Receives answers to emails over SMTP. It accepts mail for our own reply addresses only, and relays nothing. */
import { readFileSync } from 'node:fs'
import type { SMTPServerDataStream } from 'smtp-server'
import type { Deps } from '../../../deps.ts'
import { Credentials } from '../../../gate/credentials.ts'
import { Limiter } from '../../../platform/cache/limiter.ts'
import { parseEmail } from '../../../platform/mail/mime.ts'
import { networkOf } from '../../../platform/net/network.ts'
import {
  EMAIL_BYTES,
  isReplyAddress,
  RefusedReply,
  type ReplyDeps,
  receiveReply,
} from './replies.actions.ts'

const CLIENTS = 100
const IDLE_MS = 60_000
const CLOSE_MS = 5_000
/** Of all emails that are being received. */
const HELD_BYTES = 4 * EMAIL_BYTES
/** Unknown addresses per minute from one network. Each costs statements. */
const UNKNOWN_ADDRESSES = 600

export interface MailListener {
  port: number
  close(): Promise<void>
}

/** An answer that refuses a command. */
class Refusal extends Error {
  readonly responseCode: number

  constructor(responseCode: number, text: string) {
    super(text)
    this.responseCode = responseCode
  }
}

const later = () => new Refusal(451, '4.3.0 Try again later')

export async function listenForMail(deps: Deps, heldBytes = HELD_BYTES): Promise<MailListener> {
  const { SMTPServer } = await import('smtp-server')
  const { listen, certFile, keyFile } = deps.config.mail
  const means = { deps, credentials: new Credentials(deps), limiter: new Limiter(deps.cache) }
  const inbox = new Inbox(heldBytes)
  const refuse = (done: (error: Error) => void) => (error: Error) => {
    if (error instanceof Refusal) return done(error)
    if (error instanceof RefusedReply) return done(new Refusal(550, `5.7.1 ${error.message}`))
    deps.log.warn({ err: error }, 'an answer by email failed')
    done(later())
  }
  const tls =
    certFile && keyFile ? { cert: readFileSync(certFile), key: readFileSync(keyFile) } : undefined
  const server = new SMTPServer({
    ...{ size: EMAIL_BYTES, maxClients: CLIENTS, socketTimeout: IDLE_MS, closeTimeout: CLOSE_MS },
    ...{ authOptional: true, disableReverseLookup: true, logger: false, banner: 'Loquat' },
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...tls,
    onRcptTo({ address }, { envelope, remoteAddress }, done) {
      if (envelope.rcptTo.length > 0) return done(new Refusal(452, '4.5.3 One recipient at a time'))
      // Before the email arrives, so that nobody else fills our memory.
      checkRecipient(means, address, remoteAddress).then(() => done(), refuse(done))
    },
    onData(stream, { envelope }, done) {
      const to = envelope.rcptTo.map(({ address }) => address)
      inbox
        .read(stream, (email) => receiveReply(means, { to, email: parseEmail(email) }))
        .then(() => done(null, '2.0.0 Stored'), refuse(done))
    },
  })
  // Of single connections, which end then.
  server.on('error', (error) => deps.log.debug({ err: error }, 'a mail connection failed'))
  const at = listen.lastIndexOf(':')
  const host = listen.slice(0, at).replace(/^\[|\]$/g, '')
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(Number(listen.slice(at + 1)), host, () => resolve())
  })
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) }
}

async function checkRecipient(means: ReplyDeps, address: string, remote: string): Promise<void> {
  const { limiter } = means
  const key = `mail:failed:${networkOf(remote)}`
  if (limiter.reached(key, UNKNOWN_ADDRESSES)) throw later()
  if (await isReplyAddress(means, address)) return
  await limiter.take(key, UNKNOWN_ADDRESSES)
  throw new Refusal(550, '5.1.1 No such address')
}

/** The emails that are being received. Together they have a limit, because a process holds them in memory. */
class Inbox {
  readonly #most: number
  #held = 0

  constructor(most: number) {
    this.#most = most
  }

  async read(stream: SMTPServerDataStream, act: (email: Buffer) => Promise<void>): Promise<void> {
    const chunks: Buffer[] = []
    let bytes = 0
    let full = false
    const receive = async () => {
      for await (const chunk of stream) {
        // The rest is read, so that the sender gets its answer, but not kept.
        full ||= this.#held + chunk.length > this.#most
        if (full || stream.sizeExceeded) continue
        chunks.push(chunk)
        bytes += chunk.length
        this.#held += chunk.length
      }
    }
    try {
      // It fails if the sender goes away, which gets no answer then.
      await receive().catch(() => Promise.reject(later()))
      if (stream.sizeExceeded) throw new Refusal(552, '5.3.4 The email is too large')
      if (full) throw new Refusal(452, '4.3.1 Too many emails at once. Try again later')
      await act(Buffer.concat(chunks))
    } finally {
      this.#held -= bytes
    }
  }
}
