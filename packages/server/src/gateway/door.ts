import type { ClientFrame } from '@loquat/protocol'
import { limitOf } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { unknownApp } from '../gate/app-of-request.ts'
import { Credentials } from '../gate/credentials.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { fail } from '../platform/http/fail.ts'
import { Turns } from '../platform/turns.ts'
import type { AppHub } from './hub.ts'
import type { Hubs } from './hubs.ts'
import type { Session } from './session.ts'
import { Tokens } from './tokens.ts'

/** Connections whose users are looked up at once in a cell: thousands may come back in the same second. */
const AT_ONCE = 10

/** Lets connections in that show a token. */
export class Door {
  readonly #secrets: Deps['secrets']
  readonly #credentials: Credentials
  readonly #tokens: Tokens
  /** Of each cell: nobody waits for one that is down. */
  readonly #turns = new WeakMap<Cell, Turns>()
  readonly #hubs: Hubs
  readonly #hubOf = new Map<Session, AppHub>()

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
    await this.#turnsOf(session.app.cell).run(async () => {
      if (session.closed) return
      const { app } = session
      const user = await this.#credentials.user(app, authToken)
      if (!user) throw fail('AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      const settings = await this.#credentials.settings(app)
      if (!settings) throw unknownApp(app.id)
      if (session.closed) return
      session.settings = settings
      session.resource = resource
      const hub = this.#hubs.get(app)
      refuseFrom(limitOf(settings, 'limits.connectionsPerApp'), hub.connections, 'app')
      // From here on it has its place, until it leaves.
      this.#hubOf.set(session, hub)
      hub.connections++
      await hub.enter(session, user.uid)
      // It went meanwhile, or another connection of the same device came: that one stays.
      if (session.closed) return hub.leave(session)
      makeRoom(hub, session)
      hub.arrivals.tell(session)
      await hub.start(session, position)
    })
  }

  leave(session: Session): void {
    this.#tokens.remove(session)
    const hub = this.#hubOf.get(session)
    if (!hub) return
    this.#hubOf.delete(session)
    hub.connections--
    hub.leave(session)
  }

  /** The hub of a session whose token was accepted. */
  hubOf(session: Session): AppHub | undefined {
    return this.#hubOf.get(session)
  }

  #turnsOf(cell: Cell): Turns {
    const known = this.#turns.get(cell) ?? new Turns(AT_ONCE)
    this.#turns.set(cell, known)
    return known
  }
}

/** One connection a device; and not more of a user than the app allows. */
function makeRoom(hub: AppHub, session: Session): void {
  const { settings, resource } = session
  const open = [...(hub.userOf(session)?.sessions ?? [])].filter(
    (one) => one !== session && !one.closed,
  )
  const same = open.filter((one) => resource !== undefined && one.resource === resource)
  for (const one of same) one.close('replaced')
  const taken = open.length - same.length
  refuseFrom(limitOf(settings, 'limits.connectionsPerUser'), taken, 'user')
}

function refuseFrom(limit: number, taken: number, whose: 'app' | 'user'): void {
  const what = `connections per ${whose}`
  if (taken >= limit) throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what })
}
