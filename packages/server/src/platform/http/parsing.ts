import type { FastifyInstance } from 'fastify'
import { badRequest } from './fail.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Accepts only JSON bodies in UTF-8. An empty body counts as no body. */
export function addParsers(app: FastifyInstance) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      if (body.length === 0) return done(null, undefined)
      let text: string
      try {
        text = utf8.decode(body)
      } catch {
        return done(badRequest({ body: ['body is not valid UTF-8'] }))
      }
      return parseJson(request, text, (error, value) =>
        error ? done(badRequest({ body: [faultOf(text)] })) : done(null, value),
      )
    },
  )
  app.addContentTypeParser('*', (_request, _body, done) =>
    done(badRequest({ 'Content-Type': ['Content-Type must be application/json'] })),
  )
}

/** Why a body was rejected. Valid JSON is only rejected for keys that enable prototype pollution. */
function faultOf(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return 'body is not valid JSON'
  }
  return 'body must not have a key "__proto__", nor a key "constructor" that holds a "prototype"'
}
