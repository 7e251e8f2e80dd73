import { type ClientFrame, clientFrames } from '@loquat/protocol'
import { Type } from 'typebox'
import { badRequest } from '../platform/http/fail.ts'
import { findUnstorable } from '../platform/http/unstorable.ts'
import { matcher } from '../platform/matcher.ts'

const none = Type.Object({})
const checks = Object.fromEntries(
  Object.entries(clientFrames).map(([type, frame]) => [
    type,
    matcher('body' in frame ? frame.body : none),
  ]),
)

const MAX_ID = 100

/** A client's frame. `badId`: its id can't be echoed, so `checkFrame` rejects the frame without one. */
export type ReceivedFrame = ClientFrame & { badId?: true }

/** Parses a client's frame without checking its body. Returns undefined for anything that isn't a frame. */
export function readFrame(text: string): ReceivedFrame | undefined {
  try {
    const { type, id, body = {} } = JSON.parse(text)
    if (typeof type !== 'string' || !Object.hasOwn(checks, type)) return undefined
    if (id === undefined) return { type, body } as ReceivedFrame
    const isValid = typeof id === 'string' && id.length <= MAX_ID
    return { type, ...(isValid ? { id } : { badId: true }), body } as ReceivedFrame
  } catch {
    return undefined
  }
}

/** Throws unless the frame's id and body match the protocol. */
export function checkFrame({ type, body, badId }: ReceivedFrame): void {
  if (badId) throw badRequest({ id: [`id must be a string of at most ${MAX_ID} characters`] })
  const unstorable = findUnstorable(body, 'body')
  if (unstorable)
    throw badRequest({ [unstorable.field]: [`${unstorable.field} ${unstorable.text}`] })
  if (!checks[type]?.(body)) {
    throw badRequest({ body: [`body is not valid for a frame of type ${type}`] })
  }
}
