import { type ClientFrame, clientFrames } from '@loquat/protocol'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { badRequest } from '../platform/http/fail.ts'
import { findUnfit } from '../platform/http/unfit.ts'

const none = Type.Object({})
const checks = Object.fromEntries(
  Object.entries(clientFrames).map(([type, frame]) => [
    type,
    Compile('body' in frame ? frame.body : none) as { Check(value: unknown): boolean },
  ]),
)

const ID = 100

/** A frame whose id can't be repeated has none, and is refused. */
export type Heard = ClientFrame & { badId?: true }

/** What a client sent, not looked at any further; undefined: no frame at all. */
export function readFrame(text: string): Heard | undefined {
  try {
    const { type, id, body = {} } = JSON.parse(text)
    if (typeof type !== 'string' || !Object.hasOwn(checks, type)) return undefined
    if (id === undefined) return { type, body } as Heard
    const fits = typeof id === 'string' && id.length <= ID
    return { type, ...(fits ? { id } : { badId: true }), body } as Heard
  } catch {
    return undefined
  }
}

/** Fails unless its body is as the protocol says. */
export function checkFrame({ type, body, badId }: Heard): void {
  if (badId) throw badRequest({ id: [`id must be a string of at most ${ID} characters`] })
  const unfit = findUnfit(body, 'body')
  if (unfit) throw badRequest({ [unfit.field]: [`${unfit.field} ${unfit.text}`] })
  if (!checks[type]?.Check(body))
    throw badRequest({ body: [`body is not valid for a frame of type ${type}`] })
}
