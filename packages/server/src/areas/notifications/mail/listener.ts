/** Receives answers to emails over SMTP. It accepts mail for our own reply addresses only, and relays nothing. */
import { readFileSync } from 'node:fs'
import type { Deps } from '../../../deps.ts'
import { Credentials } from '../../../gate/credentials.ts'
import { Limiter } from '../../../platform/cache/limiter.ts'
import { parseEmail } from '../../../platform/mail/mime.ts'
import { EMAIL_BYTES, RefusedReply, receiveReply } from './replies.actions.ts'
import { parseReplyAddress } from './tokens.ts'

const CLIENTS = 100
const IDLE_MS = 60_000
const CLOSE_MS = 5_000

export interface MailListener {
  port: number
  close(): Promise<void>
}

const reply = (responseCode: number, text: string) =>
  Object.assign(new Error(text), { responseCode })

export async function listenForMail(deps: Deps): Promise<MailListener> {
  const { SMTPServer } = await import('smtp-server')
  const { listen, certFile, keyFile } = deps.config.mail
  const means = { deps, credentials: new Credentials(deps), limiter: new Limiter(deps.cache) }
  const tls =
    certFile && keyFile ? { cert: readFileSync(certFile), key: readFileSync(keyFile) } : undefined
  const server = new SMTPServer({
    ...{ size: EMAIL_BYTES, maxClients: CLIENTS, socketTimeout: IDLE_MS, closeTimeout: CLOSE_MS },
    ...{ authOptional: true, disableReverseLookup: true, logger: false, banner: 'Loquat' },
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...tls,
    onRcptTo({ address }, { envelope }, done) {
      if (envelope.rcptTo.length > 0) return done(reply(452, '4.5.3 One recipient at a time'))
      // Who it belongs to is found out when the email is there.
      if (!parseReplyAddress(address, Date.now())) return done(reply(550, '5.1.1 No such address'))
      done()
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      let bytes = 0
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        // The rest is read, so that the sender gets its answer, but not kept.
        if (bytes <= EMAIL_BYTES) chunks.push(chunk)
      })
      stream.on('end', () => {
        if (stream.sizeExceeded) return done(reply(552, '5.3.4 The email is too large'))
        const to = envelope.rcptTo.map(({ address }) => address)
        receiveReply(means, { to, email: parseEmail(Buffer.concat(chunks)) }).then(
          () => done(null, '2.0.0 Stored'),
          (error: Error) => {
            if (error instanceof RefusedReply) return done(reply(550, `5.7.1 ${error.message}`))
            deps.log.warn({ err: error }, 'an answer by email failed')
            done(reply(451, '4.3.0 Try again later'))
          },
        )
      })
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
