/** SendGrid's and Twilio's HTTP interfaces, which check what theirs check and can go wrong. */
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { trustedCertificate } from '../receiver.ts'

export interface ProviderReply {
  status: number
  body?: object
  headers?: Record<string, string>
}

export interface ProviderServer {
  url: string
  sendgrid: {
    apiKey: string
    // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of many shapes
    received: any[]
    /** Can be replaced: undefined accepts. */
    // biome-ignore lint/suspicious/noExplicitAny: as above
    respond(body: any): ProviderReply | 'hang' | undefined
  }
  twilio: {
    accountSid: string
    authToken: string
    from: string
    received: { to: string; text: string }[]
    respond(sms: { to: string; text: string }): ProviderReply | 'hang' | undefined
  }
  close(): void
}

type Answer = ProviderReply | 'hang'
const sendgridError = (status: number, message: string, field?: string): Answer => ({
  status,
  body: { errors: [{ message, field: field ?? null, help: null }] },
})
const twilioError = (status: number, code: number, message: string): Answer => ({
  status,
  body: { code, message, status, more_info: `https://www.twilio.com/docs/errors/${code}` },
})

export async function startProviders(): Promise<ProviderServer> {
  const { key, cert } = trustedCertificate()
  const http = createServer({ key, cert }, async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const call = { path: request.url ?? '', headers: request.headers, body }
    const answer = call.path.startsWith('/v3/') ? sendgrid(server, call) : twilio(server, call)
    if (answer === 'hang') return
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.body && JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: ProviderServer = {
    url: `https://127.0.0.1:${(http.address() as AddressInfo).port}`,
    sendgrid: { apiKey: 'SG.key-1234', received: [], respond: () => undefined },
    twilio: {
      ...{ accountSid: 'AC0123456789abcdef', authToken: 'twilio-token-1', from: '+15005550006' },
      ...{ received: [], respond: () => undefined },
    },
    close: () => {
      http.close()
      http.closeAllConnections()
    },
  }
  return server
}

interface Call {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

const RESERVED = ['to', 'from', 'subject', 'reply-to', 'content-type', 'received', 'dkim-signature']

function sendgrid({ sendgrid: own }: ProviderServer, { path, headers, body }: Call): Answer {
  if (headers.authorization !== `Bearer ${own.apiKey}`) {
    return sendgridError(401, 'The provided authorization grant is invalid, expired, or revoked')
  }
  if (path !== '/v3/mail/send') return sendgridError(404, 'not found')
  const mail = JSON.parse(body)
  const isMailbox = (box: { email?: unknown }) =>
    typeof box?.email === 'string' && /^[^\s@]+@[^\s@]+$/.test(box.email)
  const [first] = mail.personalizations ?? []
  if (!first?.to?.every(isMailbox)) {
    return sendgridError(400, 'Does not contain a valid address.', 'personalizations.0.to.0.email')
  }
  if (!isMailbox(mail.from)) return sendgridError(400, 'Does not contain a valid address.', 'from')
  if (mail.reply_to && !isMailbox(mail.reply_to)) return sendgridError(400, 'Invalid reply_to')
  if (!mail.template_id && !mail.content?.length) return sendgridError(400, 'Missing content')
  if (mail.content?.[0]?.type !== 'text/plain') return sendgridError(400, 'text/plain comes first')
  if (mail.asm && !Number.isInteger(mail.asm.group_id))
    return sendgridError(400, 'Invalid group_id')
  const reserved = Object.keys(mail.headers ?? {}).find((name) =>
    RESERVED.includes(name.toLowerCase()),
  )
  if (reserved) return sendgridError(400, `The header ${reserved} is reserved`)
  if (Buffer.byteLength(JSON.stringify(mail.headers ?? {})) > 10_000) {
    return sendgridError(400, 'Headers too large')
  }
  const answer = own.respond(mail)
  if (answer) return answer
  own.received.push(mail)
  return { status: 202, headers: { 'x-message-id': 'sg-1' } }
}

function twilio({ twilio: own }: ProviderServer, { path, headers, body }: Call): Answer {
  const login = Buffer.from(`${own.accountSid}:${own.authToken}`).toString('base64')
  if (headers.authorization !== `Basic ${login}`) return twilioError(401, 20003, 'Authenticate')
  if (path !== `/2010-04-01/Accounts/${own.accountSid}/Messages.json`) {
    return twilioError(404, 20404, 'The requested resource was not found')
  }
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') {
    return twilioError(400, 20001, 'Unknown content type')
  }
  const form = new URLSearchParams(body)
  const sms = { to: form.get('To') ?? '', text: form.get('Body') ?? '' }
  if (form.get('From') !== own.from)
    return twilioError(400, 21606, "The 'From' number is not yours")
  if (!/^\+[1-9]\d{6,14}$/.test(sms.to)) return twilioError(400, 21211, "Invalid 'To' number")
  if (sms.text === '') return twilioError(400, 21602, 'Message body is required')
  if (sms.text.length > 1_600) return twilioError(400, 21617, 'The message body is too long')
  const answer = own.respond(sms)
  if (answer) return answer
  own.received.push(sms)
  return { status: 201, body: { sid: `SM${own.received.length}`, status: 'queued' } }
}
