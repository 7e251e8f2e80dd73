/** What SendGrid calls: answers to emails, and what became of emails. A signature in the URL says for which app. */
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../../../deps.ts'
import { servedApp } from '../../../gate/app-of-request.ts'
import type { Credentials } from '../../../gate/credentials.ts'
import { Limiter } from '../../../platform/cache/limiter.ts'
import { type ParsedEmail, parseEmail } from '../../../platform/mail/mime.ts'
import { EMAIL_BYTES, RefusedReply, receiveReply } from './replies.actions.ts'
import { type SUPPRESSED_FOR, suppressAddress } from './suppressed.queries.ts'
import { openLink } from './tokens.ts'

type Token = { Params: { token: string } }

const EVENTS_BYTES = 2_000_000

export async function addInbound(
  app: FastifyInstance,
  deps: Deps,
  credentials: Credentials,
): Promise<void> {
  const { secrets, directory, log } = deps
  const means = { deps, credentials, limiter: new Limiter(deps.cache) }
  await app.register(multipart, {
    limits: { fileSize: EMAIL_BYTES, fieldSize: EMAIL_BYTES, fields: 50, files: 20, parts: 70 },
  })

  /** The inbound parse webhook. Refused emails are answered with success: SendGrid would send them for days. */
  app.post<Token>(
    '/mail/inbound/:token',
    { schema: { hide: true }, bodyLimit: EMAIL_BYTES + 1_000_000 },
    async (request, reply) => {
      const [appId] = openLink(secrets, 'inbound', request.params.token) ?? []
      if (!appId || !request.isMultipart()) return reply.code(404).send({})
      try {
        const { to, email } = await readForm(request)
        await receiveReply(means, { to, email, appId })
        return { stored: true }
      } catch (error) {
        if (!(error instanceof RefusedReply)) throw error
        log.info({ appId, reason: error.message }, 'an answer by email was refused')
        return { stored: false, reason: error.message }
      }
    },
  )

  /** The event webhook: addresses that don't exist or whose owners complain get nothing more. */
  app.post<Token>(
    '/mail/events/:token',
    { schema: { hide: true }, bodyLimit: EVENTS_BYTES },
    async (request, reply) => {
      const [appId] = openLink(secrets, 'events', request.params.token) ?? []
      if (!appId) return reply.code(404).send({})
      const { no: appNo, cell } = servedApp(await directory.find(appId), appId, undefined)
      const events = Array.isArray(request.body) ? (request.body as SendgridEvent[]) : []
      for (const event of events) {
        if (typeof event !== 'object' || event === null) continue
        const reason = reasonOf(event)
        const address = typeof event.email === 'string' ? event.email.trim().toLowerCase() : ''
        if (!reason || !address || address.length > 254) continue
        const details = typeof event.reason === 'string' ? event.reason : null
        await suppressAddress.run(cell.db, { appNo, channel: 'email', address, reason, details })
      }
      return { events: events.length }
    },
  )
}

interface SendgridEvent {
  email?: unknown
  event?: unknown
  type?: unknown
  reason?: unknown
}

/** A block can be temporary; a bounce isn't. */
function reasonOf({ event, type }: SendgridEvent): (typeof SUPPRESSED_FOR)[number] | undefined {
  if (event === 'bounce') return type === 'blocked' ? undefined : 'bounce'
  if (event === 'spamreport') return 'complaint'
  return event === 'unsubscribe' || event === 'group_unsubscribe' ? 'unsubscribed' : undefined
}

/** The fields that SendGrid sends, or the whole email if it is set to send that. */
async function readForm(request: FastifyRequest): Promise<{ to: string[]; email: ParsedEmail }> {
  const fields = new Map<string, string>()
  const attachments: ParsedEmail['attachments'] = []
  for await (const part of request.parts()) {
    if (part.type === 'field') fields.set(part.fieldname, String(part.value))
    else {
      const content = await part.toBuffer()
      attachments.push({ name: part.filename || 'file', type: part.mimetype, content })
    }
  }
  const raw = fields.get('email')
  const head = parseEmail(Buffer.from(`${fields.get('headers') ?? ''}\r\n\r\n`))
  const email: ParsedEmail = raw
    ? parseEmail(Buffer.from(raw, 'utf8'))
    : {
        header: head.header,
        text: fields.get('text') ?? '',
        html: fields.get('html') ?? '',
        attachments,
      }
  return { to: addressesIn(fields), email }
}

/** From the envelope: the header `To` can say anything. */
function addressesIn(fields: Map<string, string>): string[] {
  try {
    const { to } = JSON.parse(fields.get('envelope') ?? '{}')
    return Array.isArray(to) ? to.filter((each) => typeof each === 'string').slice(0, 20) : []
  } catch {
    return []
  }
}
