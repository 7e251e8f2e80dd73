import type { Deps } from '../deps.ts'
import { listValidTokens } from '../gate/queries.ts'
import { ARCHIVED, EVERYTHING, type Revocation } from '../platform/cells/revocations.ts'
import type { Session } from './session.ts'

const CHECKED_AT_ONCE = 1_000

/** The connections by the token that each has shown: they end when it is revoked. */
export class Tokens {
  readonly #sessions = new Map<string, Set<Session>>()
  readonly #log: Deps['log']

  constructor({ revocations, log }: Pick<Deps, 'revocations' | 'log'>) {
    this.#log = log
    revocations.listen((revoked) => this.#revoked(revoked))
  }

  /** Call it before the token is looked up: what is revoked in between is then heard of. */
  add(session: Session): void {
    const known = this.#sessions.get(session.credential) ?? new Set()
    this.#sessions.set(session.credential, known.add(session))
  }

  remove(session: Session): void {
    const known = this.#sessions.get(session.credential)
    if (known?.delete(session) && known.size === 0) this.#sessions.delete(session.credential)
  }

  #revoked(revoked: Revocation | typeof EVERYTHING): void {
    if (revoked === EVERYTHING) void this.#checkAll()
    else if (revoked.kind === 'token') this.#end(revoked.appNo, revoked.id)
    else if (revoked.kind === 'app' && revoked.id === ARCHIVED) this.#endAll(revoked.appNo)
  }

  /** The app went out of service. */
  #endAll(appNo: number): void {
    for (const sessions of this.#sessions.values()) {
      for (const session of sessions) if (session.app.no === appNo) session.close('noApp')
    }
  }

  #end(appNo: number, credential: string): void {
    for (const session of this.#sessions.get(credential) ?? []) {
      if (session.app.no === appNo) session.close('unauthorized')
    }
  }

  /** The log of revocations was not read for a while: some may have been missed. */
  async #checkAll(): Promise<void> {
    const byApp = Map.groupBy(
      [...this.#sessions.values()].flatMap((sessions) => [...sessions]),
      ({ app }) => app,
    )
    for (const [app, sessions] of byApp) {
      for (let from = 0; from < sessions.length; from += CHECKED_AT_ONCE) {
        const some = sessions.slice(from, from + CHECKED_AT_ONCE)
        try {
          const tokenHashes = some.map(({ credential }) => credential)
          const rows = await listValidTokens.many(app.cell.db, { appNo: app.no, tokenHashes })
          const valid = new Set(rows.map((row) => row.token_hash))
          for (const session of some) {
            if (!valid.has(session.credential)) session.close('unauthorized')
          }
        } catch (error) {
          // Nobody can say whether they still may: they come back and show their tokens.
          this.#log.warn({ err: error }, 'tokens were not looked up')
          for (const session of some) session.close('fault')
        }
      }
    }
  }
}
