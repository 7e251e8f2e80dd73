import { badRequest } from '../../platform/http/fail.ts'

const MARKER = /<@uid:([a-z0-9_-]{1,100})>/gi
const MOST = 10

/** The users that a text or caption mentions with `<@uid:UID>`; null for none. */
export function mentionedIn(category: string, { text }: { text?: unknown }): string[] | null {
  if (category !== 'message' || typeof text !== 'string' || !text.includes('<@')) return null
  const uids = new Set(Array.from(text.matchAll(MARKER), ([, uid = '']) => uid.toLowerCase()))
  if (uids.size > MOST) {
    throw badRequest({ 'data.text': [`a message can mention at most ${MOST} users`] })
  }
  return uids.size > 0 ? [...uids] : null
}
