import type { Actor, ServedApp } from '../core/actor.ts'
import { refuseIf } from '../core/policy.ts'
import { refuseBanned, sanctionsOf } from '../core/sanctions.ts'
import { fail } from '../platform/http/fail.ts'
import { unknownApp } from './app-of-request.ts'
import type { Credentials } from './credentials.ts'
import { checkUser } from './plugin.ts'

/**
 * A user who acts without a request of their own, such as by a link in an email. Refuses users who can't act, like the
 * gate does.
 */
export async function actingUser(
  credentials: Credentials,
  app: ServedApp,
  uid: string,
): Promise<Actor> {
  const state = await credentials.app(app)
  if (!state) throw unknownApp(app.id)
  if (state.suspended) throw fail('ERR_APP_SUSPENDED')
  const { settings, rules, moderation, sanctioned } = state
  const policy = rules.get(await checkUser(app, uid))
  const of = { app, settings, ...(policy && { policy }), moderation }
  const actor: Actor = { ...of, credential: Buffer.alloc(0), kind: 'user', uid }
  if (sanctioned) {
    actor.sanctioned = true
    actor.sanctions = await sanctionsOf(app, uid)
    refuseIf(refuseBanned(actor))
  }
  return actor
}
