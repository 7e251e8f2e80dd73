import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import type { ManagedApp, Operator } from '../../gate/operator.ts'
import { operatorWrite } from '../../gate/operator-write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { ApiError, fail } from '../../platform/http/fail.ts'
import { findOperatorByEmail } from '../operators/queries.ts'
import {
  type CollaboratorRow,
  listCollaborators,
  lockTeam,
  removeCollaborator,
  removeInvitation,
  upsertCollaborator,
  upsertInvitation,
} from './collaborators.queries.ts'
import type {
  Changed,
  Collaborator,
  CollaboratorChanges,
  CollaboratorOutcomes,
} from './collaborators.schema.ts'
import { refuseCollaborator } from './policy.ts'

const COLLABORATORS_PER_APP = 25

export const toCollaborator = (row: CollaboratorRow): Collaborator => ({
  ...(row.operator_no !== null && { id: String(row.operator_no) }),
  ...(row.name !== null && { name: row.name }),
  email: row.email,
  role: row.role,
  state: row.operator_no === null ? 'invited' : 'active',
  createdAt: Math.floor(row.created_at.getTime() / 1000),
})

/** Adds, changes and removes collaborators; returns the result for each address. */
export function changeCollaborators(
  deps: Deps,
  request: FastifyRequest,
  changes: CollaboratorChanges,
): Promise<CollaboratorOutcomes> {
  const { operator, managedApp: app } = request
  return operatorWrite(deps, request, async (tx) => {
    await lockTeam.run(tx, { appNo: app.no })
    const team = new Team(deps, tx, app, operator)
    const before = await team.read()
    const outcomes = {
      collaboratorsToRemove: await team.each(changes.collaboratorsToRemove, (email) =>
        team.remove(email),
      ),
      admins: await team.each(changes.admins, (email) => team.add(email, 'admin')),
      moderators: await team.each(changes.moderators, (email) => team.add(email, 'moderator')),
      developers: await team.each(changes.developers, (email) => team.add(email, 'developer')),
    }
    const after = await team.read()
    await recordAudit(tx, operator, { action: 'changeCollaborators', app, before, after })
    return outcomes
  })
}

/** The team of an app while it is being changed. */
class Team {
  readonly #deps: Deps
  readonly #tx: Tx
  readonly #app: ManagedApp
  readonly #caller: Operator
  #members: CollaboratorRow[] = []

  constructor(deps: Deps, tx: Tx, app: ManagedApp, caller: Operator) {
    this.#deps = deps
    this.#tx = tx
    this.#app = app
    this.#caller = caller
  }

  /** Roles by address, for the audit log. */
  async read(): Promise<Record<string, string>> {
    this.#members = await listCollaborators.many(this.#tx, { appNo: this.#app.no })
    return Object.fromEntries(this.#members.map(({ email, role }) => [email, role]))
  }

  async each(
    emails: string[] = [],
    change: (email: string) => Promise<Changed>,
  ): Promise<Record<string, Changed>> {
    const outcomes: [string, Changed][] = []
    for (const email of emails) {
      try {
        outcomes.push([email, await change(email)])
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const { code, message } = error
        outcomes.push([email, { success: false, error: { code, message } }])
      }
    }
    return Object.fromEntries(outcomes)
  }

  async add(email: string, role: string): Promise<Changed> {
    const known = this.#check(email)
    if (!known && this.#members.length >= COLLABORATORS_PER_APP) {
      const what = 'collaborators per app'
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: COLLABORATORS_PER_APP, what })
    }
    const { no: appNo } = this.#app
    const account = await findOperatorByEmail.maybeOne(this.#tx, { email })
    if (account) {
      await upsertCollaborator.run(this.#tx, { appNo, operatorNo: account.operator_no, role })
      await removeInvitation.run(this.#tx, { appNo, email })
      await this.read()
      return { success: true, message: known ? 'Changed.' : 'Added.' }
    }
    if (this.#deps.config.manage.signUp === 'off') throw fail('ERR_SIGN_UP_CLOSED')
    const invitation = randomBytes(32).toString('base64url')
    const tokenHash = this.#deps.secrets.hash(invitation)
    await upsertInvitation.run(this.#tx, { appNo, email, role, tokenHash })
    await this.read()
    return { success: true, message: 'Invited.', invitation }
  }

  async remove(email: string): Promise<Changed> {
    const known = this.#check(email)
    if (!known) throw fail('ERR_NOT_A_COLLABORATOR', { email })
    const { no: appNo } = this.#app
    const operatorNo = known.operator_no
    if (operatorNo === null) await removeInvitation.run(this.#tx, { appNo, email })
    else await removeCollaborator.run(this.#tx, { appNo, operatorNo })
    await this.read()
    return { success: true, message: 'Removed.' }
  }

  /** The collaborator with this address, if the caller may change them. */
  #check(email: string): CollaboratorRow | undefined {
    const known = this.#members.find((member) => member.email === email)
    refuseIf(refuseCollaborator(this.#caller, email, known?.role))
    return known
  }
}
