import type { CloseName } from '@loquat/protocol'
import type { Deps } from '../deps.ts'
import { listValidTokens } from '../gate/queries.ts'
import { ARCHIVED, EVERYTHING, type Revocation, SUSPENDED } from '../platform/cells/revocations.ts'
import type { Session } from './session.ts'

const BATCH = 1_000

/** Sessions by their auth token. Closes them when the token is revoked. */
export class SessionsByToken {
  readonly #sessions = new Map<string, Set<Session>>()
  readonly #log: Deps['log']

  constructor({ revocations, log }: Pick<Deps, 'revocations' | 'log'>) {
    this.#log = log
    revocations.listen((revoked) => this.#onRevocation(revoked))
  }

  /** Call this before looking up the token, so that a revocation in between isn't missed. */
  add(session: Session): void {
    const known = this.#sessions.get(session.credential) ?? new Set()
    this.#sessions.set(session.credential, known.add(session))
  }

  remove(session: Session): void {
    const known = this.#sessions.get(session.credential)
    if (known?.delete(session) && known.size === 0) this.#sessions.delete(session.credential)
  }

  #onRevocation(revoked: Revocation | typeof EVERYTHING): void {
    if (revoked === EVERYTHING) void this.#checkAll()
    else if (revoked.kind === 'token') this.#closeToken(revoked.appNo, revoked.id)
    else if (revoked.kind === 'app' && revoked.id === ARCHIVED) this.#closeApp(revoked, 'noApp')
    else if (revoked.kind === 'app' && revoked.id === SUSPENDED)
      this.#closeApp(revoked, 'suspended')
  }

  #closeApp({ appNo }: Revocation, name: CloseName): void {
    for (const sessions of this.#sessions.values()) {
      for (const session of sessions) if (session.app.no === appNo) session.close(name)
    }
  }

  #closeToken(appNo: number, credential: string): void {
    for (const session of this.#sessions.get(credential) ?? []) {
      if (session.app.no === appNo) session.close('unauthorized')
    }
  }

  /** The revocation log couldn't be read for a while, so some revocations may have been missed. */
  async #checkAll(): Promise<void> {
    const byApp = Map.groupBy(
      [...this.#sessions.values()].flatMap((sessions) => [...sessions]),
      ({ app }) => app,
    )
    for (const [app, sessions] of byApp) {
      for (let from = 0; from < sessions.length; from += BATCH) {
        const batch = sessions.slice(from, from + BATCH)
        try {
          const tokenHashes = batch.map(({ credential }) => credential)
          const rows = await listValidTokens.many(app.cell.db, { appNo: app.no, tokenHashes })
          const valid = new Set(rows.map((row) => row.token_hash))
          for (const session of batch) {
            if (!valid.has(session.credential)) session.close('unauthorized')
          }
        } catch (error) {
          // It's unknown which tokens are still valid. Clients reconnect and authenticate again.
          this.#log.warn({ err: error }, "couldn't check auth tokens; closing their connections")
          for (const session of batch) session.close('fault')
        }
      }
    }
  }
}
