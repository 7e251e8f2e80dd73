import type { ClientFrame } from '@loquat/protocol'
import { refuseIf } from '../core/policy.ts'
import { refuseBanned, sanctionsOf } from '../core/sanctions.ts'
import { limitOf, type Settings, settingOf } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { unknownApp } from '../gate/app-of-request.ts'
import type { Credentials } from '../gate/credentials.ts'
import type { Failures } from '../gate/failures.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { fail } from '../platform/http/fail.ts'
import { FairSlots, isLight } from '../platform/lanes/slots.ts'
import { addAuthInfo } from './device-info.ts'
import type { AppHub, HubDeps } from './hub.ts'
import type { Hubs } from './hubs.ts'
import type { Session } from './session.ts'
import { SessionsByToken } from './sessions-by-token.ts'

/**
 * Sessions per cell that are authenticated at the same time, of all apps; one alone has three quarters. Thousands of
 * clients may reconnect in the same second.
 */
const CONCURRENCY = 14

/** Checks the auth tokens of sessions, and adds the sessions to the hubs of their apps. */
export class Authenticator {
  readonly #secrets: Deps['secrets']
  readonly #credentials: Credentials
  readonly #failures: Failures
  readonly #tokens: SessionsByToken
  /** One for each cell, so that sessions of other cells don't wait for a cell that is down. */
  readonly #slots = new WeakMap<Cell, FairSlots>()
  readonly #hubs: Hubs
  readonly #hubOf = new Map<Session, AppHub>()

  constructor(deps: HubDeps, failures: Failures, hubs: Hubs) {
    this.#failures = failures
    this.#secrets = deps.secrets
    this.#credentials = deps.credentials
    this.#tokens = new SessionsByToken(deps)
    this.#hubs = hubs
  }

  async authenticate(session: Session, body: ClientFrame<'auth'>['body']): Promise<void> {
    if (session.closed) return
    const { authToken, position, resource } = body
    session.credential = this.#secrets.hash(authToken).toString('hex')
    this.#tokens.add(session)
    const work = { app: session.app.no, weight: isLight, last: false, perApp: CONCURRENCY }
    await this.#slotsOf(session.app.cell).run(work, async () => {
      if (session.closed) return
      const { app } = session
      const state = await this.#credentials.app(app)
      if (!state) throw unknownApp(app.id)
      const { settings } = state
      if (state.suspended) throw fail('ERR_APP_SUSPENDED')
      const user = await this.#findUser(session, settings, authToken)
      if (!user) throw fail('AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      if (state.sanctioned) refuseIf(refuseBanned({ sanctions: await sanctionsOf(app, user.uid) }))
      if (session.closed) return
      session.settings = settings
      session.resource = resource
      session.device = addAuthInfo(session.device, body)
      const hub = this.#hubs.get(app)
      checkLimit(limitOf(settings, 'limits.connectionsPerApp'), hub.connections, 'app')
      // From here on it counts as a connection of the app, until `remove`.
      this.#hubOf.set(session, hub)
      hub.connections++
      await hub.add(session, user.uid)
      // It was closed meanwhile, perhaps because a newer connection of the same device replaced it.
      if (session.closed) return hub.remove(session)
      // The user was banned meanwhile, and the hub knew it before it had this session.
      refuseIf(refuseBanned({ sanctions: hub.userOf(session)?.sanctions }))
      replaceDevice(hub, session)
      hub.deviceTakeover.announce(session)
      await hub.start(session, position)
    })
  }

  /** Unknown tokens count with those of the REST API. */
  #findUser({ app, device }: Session, settings: Settings, authToken: string) {
    const attempt = {
      where: String(app.no),
      limit: Number(settingOf(settings, 'rate.failed')),
      from: { address: device.appInfo?.clientIp ?? '' },
    }
    const hashOf = () => this.#secrets.hash(authToken)
    return this.#failures.find(attempt, hashOf, () => this.#credentials.user(app, authToken))
  }

  remove(session: Session): void {
    this.#tokens.remove(session)
    const hub = this.#hubOf.get(session)
    if (!hub) return
    this.#hubOf.delete(session)
    hub.connections--
    hub.remove(session)
  }

  /** The hub of a session whose token was accepted. */
  hubOf(session: Session): AppHub | undefined {
    return this.#hubOf.get(session)
  }

  #slotsOf(cell: Cell): FairSlots {
    const options = { size: CONCURRENCY, queue: Number.POSITIVE_INFINITY }
    const known = this.#slots.get(cell) ?? new FairSlots(options)
    this.#slots.set(cell, known)
    return known
  }
}

/** Closes earlier connections of the same device, then checks the app's limit of connections per user. */
function replaceDevice(hub: AppHub, session: Session): void {
  const { settings, resource } = session
  const others = [...(hub.userOf(session)?.sessions ?? [])].filter(
    (other) => other !== session && !other.closed,
  )
  const same = others.filter((other) => resource !== undefined && other.resource === resource)
  for (const other of same) other.close('replaced')
  const count = others.length - same.length
  checkLimit(limitOf(settings, 'limits.connectionsPerUser'), count, 'user')
}

function checkLimit(limit: number, count: number, per: 'app' | 'user'): void {
  if (count < limit) return
  throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what: `connections per ${per}` })
}
