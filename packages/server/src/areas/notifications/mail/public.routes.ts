/** What links in emails lead to. They work without a session: a signature in the URL says what they may do. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { EmailDesign } from '../../../core/notifications/mail/design.ts'
import { stringsOf } from '../../../core/notifications/mail/strings.ts'
import { defaultsOf } from '../../../core/notifications/tree.ts'
import type { Deps } from '../../../deps.ts'
import { actingUser } from '../../../gate/acting-user.ts'
import { servedApp } from '../../../gate/app-of-request.ts'
import type { Credentials } from '../../../gate/credentials.ts'
import { fail } from '../../../platform/http/fail.ts'
import { readableFiles } from '../../files/actions.ts'
import { linksOf } from '../../files/record.ts'
import { getSettings } from '../settings.actions.ts'
import { suppressAddress } from './suppressed.queries.ts'
import { openLink } from './tokens.ts'
import { unsubscribePage } from './unsubscribe.page.ts'

const SMALL_BODY = 10_000

const PLAIN = defaultsOf(EmailDesign)
const INVALID = 'This link is not valid. Use the one in a newer email.'

type Token = { Params: { token: string } }

export function addMailLinks(app: FastifyInstance, deps: Deps, credentials: Credentials): void {
  const { secrets, directory } = deps
  const appOf = async (appId: string) => servedApp(await directory.find(appId), appId, undefined)

  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: SMALL_BODY },
    (_request, _body, done) => done(null, {}),
  )

  /** Mail programs and scanners open links, so a GET only asks. */
  app.get<Token>('/mail/unsubscribe/:token', { schema: { hide: true } }, async (request, reply) => {
    const link = openLink(secrets, 'unsubscribe', request.params.token)
    if (!link) return page(reply.code(404), unsubscribePage(PLAIN, INVALID))
    const [appId, , address] = link
    const { no, cell } = await appOf(appId)
    const { emailDesign } = await getSettings(cell.db, no)
    const strings = stringsOf(emailDesign.language)
    return page(reply, unsubscribePage(emailDesign, strings.confirmHint(address), strings.confirm))
  })

  /** RFC 8058: a POST does it, without a question. */
  app.post<Token>(
    '/mail/unsubscribe/:token',
    { schema: { hide: true } },
    async (request, reply) => {
      const link = openLink(secrets, 'unsubscribe', request.params.token)
      if (!link) return page(reply.code(404), unsubscribePage(PLAIN, INVALID))
      const [appId, , address] = link
      const { no: appNo, cell } = await appOf(appId)
      await suppressAddress.run(cell.db, {
        ...{ appNo, channel: 'email', address: address.toLowerCase() },
        ...{ reason: 'unsubscribed', details: null },
      })
      const { emailDesign } = await getSettings(cell.db, appNo)
      const { unsubscribed: title, unsubscribedHint } = stringsOf(emailDesign.language)
      return page(reply, unsubscribePage(emailDesign, `${title}. ${unsubscribedHint}`))
    },
  )

  /** A thumbnail in an email, as long as its user may see the message. */
  app.get<Token>('/mail/file/:token', { schema: { hide: true } }, async (request, reply) => {
    const missing = () => fail('ERR_FILE_NOT_FOUND', { id: '' })
    const [appId = '', uid = '', id = '', expiresAt = 0] =
      openLink(secrets, 'file', request.params.token) ?? []
    if (!deps.files || expiresAt * 1000 <= Date.now()) throw missing()
    const actor = await actingUser(credentials, await appOf(appId), uid)
    const [row] = await readableFiles(actor, [id])
    if (row?.state !== 'ready') throw missing()
    const { file, expiresAt: _ends, ...thumbnails } = await linksOf(deps.files, appId, row)
    const { small, medium, large } = thumbnails as Record<string, string | undefined>
    reply.header('cache-control', 'private, max-age=60').header('referrer-policy', 'no-referrer')
    return reply.redirect(small ?? medium ?? large ?? file)
  })
}

const page = (reply: FastifyReply, html: string) =>
  reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; img-src https:; form-action 'self'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    .send(html)
