/** A real mail server that requires TLS and a login, and can go wrong at every step of the protocol. */
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { trustedCertificate } from '../receiver.ts'

export interface ReceivedMail {
  from: string
  to: string[]
  user: string
  secure: boolean
  /** The whole message as it arrived. */
  raw: string
  /** By lower-case name, unfolded. */
  headers: Record<string, string>
  /** After the headers. */
  body: string
}

export type Step = 'connect' | 'auth' | 'from' | 'rcpt' | 'data'
/** Undefined goes on. A text is an SMTP reply such as `450 4.2.0 Try again`. */
export type Misbehaviour = string | 'hang' | undefined

export interface MailServer {
  port: number
  login: { username: string; password: string }
  received: ReceivedMail[]
  /** How many connections it got. */
  connections: number
  /** Can be replaced. */
  respond(step: Step, value: string): Misbehaviour | Promise<Misbehaviour>
  close(): Promise<void>
}

export interface MailServerOptions {
  /** TLS from the first byte. */
  implicitTls?: boolean
  /** Offers no STARTTLS. */
  plain?: boolean
}

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { key, cert } = trustedCertificate()
  const login = { username: 'chat', password: 'mail-password-1' }
  const server: MailServer = {
    ...{ port: 0, login, received: [], connections: 0 },
    respond: () => undefined,
    close: async () => {
      for (const connection of smtp.connections) connection.close()
      await new Promise<void>((resolve) => smtp.close(resolve))
    },
  }
  type Done = (error?: Error | null) => void
  const step = async (name: Step, value: string, done: Done) => {
    const reply = await server.respond(name, value)
    if (reply === 'hang') return
    if (reply === undefined) return done()
    const [code = '', ...words] = reply.split(' ')
    done(Object.assign(new Error(words.join(' ')), { responseCode: Number(code) }))
  }
  const smtp = new SMTPServer({
    ...{ key, cert, secure: options.implicitTls ?? false, logger: false },
    ...{
      disabledCommands: options.plain ? ['STARTTLS'] : [],
      authOptional: false,
      disableReverseLookup: true,
    },
    onConnect: (_session, done) => {
      server.connections++
      void step('connect', '', done)
    },
    onAuth: ({ username, password }, _session, done) => {
      const right = username === login.username && password === login.password
      if (!right)
        return done(Object.assign(new Error('5.7.8 Wrong password'), { responseCode: 535 }))
      void step('auth', String(username), (error) =>
        error ? done(error) : done(null, { user: username ?? '' }),
      )
    },
    onMailFrom: ({ address }, _session, done) => void step('from', address, done),
    onRcptTo: ({ address }, _session, done) => void step('rcpt', address, done),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const mail = received(Buffer.concat(chunks).toString('utf8'), session)
        void step('data', mail.raw, (error) => {
          if (!error) server.received.push(mail)
          done(error)
        })
      })
    },
  })
  smtp.on('error', () => {})
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  server.port = (smtp.server.address() as AddressInfo).port
  return server
}

function received(raw: string, session: SMTPServerSession): ReceivedMail {
  const { mailFrom, rcptTo } = session.envelope
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw.slice(0, end).replace(/\r\n[ \t]+/g, ' ')
  const headers = Object.fromEntries(
    lines.split('\r\n').map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.toLowerCase(), value.join(':').trim()]
    }),
  )
  return {
    from: mailFrom ? mailFrom.address : '',
    to: rcptTo.map(({ address }) => address),
    user: String(session.user ?? ''),
    secure: session.secure,
    ...{ raw, headers, body: raw.slice(end + 4) },
  }
}
