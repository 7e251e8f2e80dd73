import type { ClientFrame } from '@loquat/protocol'
import { unknownApp } from '../areas/access/app-of-request.ts'
import { Credentials } from '../areas/access/credentials.ts'
import { limitOf } from '../areas/settings/settings.ts'
import type { Deps } from '../deps.ts'
import { fail } from '../platform/http/fail.ts'
import { Turns } from '../platform/turns.ts'
import type { Hubs } from './hubs.ts'
import type { Session } from './session.ts'
import { Tokens } from './tokens.ts'

/** Connections whose users are looked up at once: thousands may come back in the same second. */
const AT_ONCE = 10

/** Lets connections in that show a token. */
export class Door {
  readonly #secrets: Deps['secrets']
  readonly #credentials: Credentials
  readonly #tokens: Tokens
  readonly #turns = new Turns(AT_ONCE)
  readonly #hubs: Hubs

  constructor(deps: Deps, hubs: Hubs) {
    this.#secrets = deps.secrets
    this.#credentials = new Credentials(deps)
    this.#tokens = new Tokens(deps)
    this.#hubs = hubs
  }

  async enter(session: Session, body: ClientFrame<'auth'>['body']): Promise<void> {
    if (session.closed) return
    const { authToken, position, resource } = body
    session.credential = this.#secrets.hash(authToken).toString('hex')
    this.#tokens.add(session)
    await this.#turns.run(async () => {
      if (session.closed) return
      const { app } = session
      const user = await this.#credentials.user(app, authToken)
      if (!user) throw fail('AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      const settings = await this.#credentials.settings(app)
      if (!settings) throw unknownApp(app.id)
      session.settings = settings
      session.resource = resource
      session.hub = this.#hubs.get(app)
      this.#makeRoom(session, user.uid)
      await session.hub.join(session, user.uid, position)
    })
  }

  leave(session: Session): void {
    this.#tokens.remove(session)
    session.hub?.leave(session)
  }

  /** One connection a device; and not more than the app allows. */
  #makeRoom({ hub, settings, resource }: Session, uid: string): void {
    const others = [...(hub?.users.get(uid)?.sessions ?? [])].filter(({ closed }) => !closed)
    const same = others.filter((other) => resource !== undefined && other.resource === resource)
    for (const other of same) other.close('replaced')
    const limit = limitOf(settings, 'limits.connectionsPerUser')
    if (others.length - same.length < limit) return
    throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what: 'connections of a user' })
  }
}
