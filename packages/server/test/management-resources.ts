/**
 * What the tests over all operations of the management API need for each: an id for every path
 * parameter, and a request that succeeds.
 */
import { randomBytes } from 'node:crypto'
import type { Role } from '../src/gate/operator.ts'
import { stepOf, totpCode } from '../src/platform/secrets/totp.ts'
import { managementOperations, type Operation } from './conformity.ts'
import type { TestServer } from './kit.ts'
import { join, newOperator, type TestOperator } from './operators.ts'
import type { Ids, Sample, ValidRequest } from './resources.ts'

interface Ground {
  server: TestServer
  /** The operator who calls the operation. */
  caller: TestOperator
  /** The owner of the app, if there is one. */
  owner: TestOperator
  ids: Ids
}

const someone = () => `${randomBytes(6).toString('hex')}@example.org`

/** Another session of the caller, because a session that ends itself can't be used again. */
async function otherSession({ server, caller }: Ground): Promise<string> {
  const credentials = { email: caller.email, password: caller.password }
  const answer = await caller.call('POST', '/sessions', { body: credentials, cookie: null })
  if (answer.status !== 200) throw new Error(`no session on ${server.service.apiPort}`)
  return answer.body.data.session.id
}

/** A job of the app that no worker runs. */
async function newJob({ server, ids }: Ground): Promise<string> {
  const app = await server.deps.directory.find(ids.appId ?? '')
  if (!app?.cell) throw new Error(`there is no app ${ids.appId}`)
  const text = `select enqueue_job($1, 'test.none', '{}', '1 hour') as id`
  const { rows } = await app.cell.db.query<{ id: number }>({ name: '', text, values: [app.no] })
  return String(rows[0]?.id)
}

/** By the name of a path parameter other than `appId`. */
const resources: Record<string, (ground: Ground) => Promise<string>> = {
  sessionId: otherSession,
  jobId: newJob,
  key: async ({ caller: { client, password } }) =>
    (await client.keys.create({ name: 'Made', password })).key,
}

async function totpOn({ caller: { client, password } }: Ground): Promise<Sample> {
  const { secret } = await client.totp.start({ password })
  await client.totp.confirm({ code: totpCode(secret, stepOf(Date.now())) })
  return { body: { password } }
}

/** By operationId. */
const samples: Record<string, (ground: Ground) => Sample | Promise<Sample>> = {
  createOperator: () => ({ body: { email: someone(), name: 'Ana', password: 'a long password' } }),
  updateOperator: ({ caller: { password } }) => ({
    body: { name: 'Ana', password: 'a new password', currentPassword: password, endKeys: true },
  }),
  acceptInvitation: async ({ server, caller }) => {
    const app = await server.newApp()
    const owner = await newOperator(server)
    await join(server, app, owner, 'owner')
    // An invitation for another address, changed to the caller's.
    const email = someone()
    const { admins } = await owner.client.collaborators.change(app.id, { admins: [email] })
    const text = 'update invitations set email = $1 where email = $2'
    const values = [caller.email, email]
    await server.deps.directory.db.query({ name: '', text, values })
    return { body: { invitation: admins[email]?.invitation } }
  },
  createSession: ({ caller: { email, password } }) => ({ body: { email, password } }),
  startTotp: ({ caller: { password } }) => ({ body: { password } }),
  confirmTotp: async ({ caller: { client, password } }) => {
    const { secret } = await client.totp.start({ password })
    return { body: { code: totpCode(secret, stepOf(Date.now())) } }
  },
  renewTotpCodes: totpOn,
  deleteTotp: totpOn,
  createKey: ({ caller: { password } }) => ({ body: { name: 'Deploy', password } }),
  rotateKey: ({ caller: { password } }) => ({ body: { password } }),
  listKeys: () => ({ query: { perPage: '10', page: '1' } }),
  listSessions: () => ({ query: { perPage: '10', page: '1' } }),
  createApp: () => ({ body: { name: 'Clinic chat', region: 'us', version: '3' } }),
  listApps: () => ({ query: { searchKey: 'te', perPage: '10', page: '1' } }),
  updateApp: () => ({ body: { name: 'Renamed' } }),
  restoreApp: async ({ owner, ids }) => {
    await owner.client.apps.delete(ids.appId ?? '')
    return {}
  },
  listCollaborators: () => ({ query: { perPage: '10', page: '1' } }),
  changeCollaborators: () => ({
    body: { admins: [someone()], moderators: [], collaboratorsToRemove: [someone()] },
  }),
  setSettings: () => ({ body: { settings: { 'rate.core': 9_000, unknown: true } } }),
  resetSettings: () => ({ body: { settings: ['rate.core'] } }),
  listTenants: () => ({
    query: {
      searchKey: 'te',
      perPage: '10',
      page: '1',
      fromDate: '1700000000',
      toDate: '1700086400',
    },
  }),
  createUsageReport: () => ({ body: { usePreviousBillingCycle: true } }),
  listJobs: () => ({ query: { limit: '10', before: '9', state: 'dead', name: 'users.sweep' } }),
  retryJob: async ({ owner, ids }) => {
    await owner.client.jobs.cancel(ids.appId ?? '', ids.jobId ?? '')
    return {}
  },
  listAuditEntries: () => ({ query: { limit: '10', action: 'createApp', from: '0', to: '9' } }),
  listAppAuditEntries: () => ({ query: { limit: '10', before: '9', operator: '1' } }),
}

export interface ManagedRequest extends ValidRequest {
  caller: TestOperator
}

/**
 * Creates everything an operation needs to succeed. The caller gets the given role in the app of the
 * path; null gives none.
 */
export async function prepareManaged(
  server: TestServer,
  operation: Operation,
  role: Role | null = 'owner',
): Promise<ManagedRequest> {
  const { operationId, parameters, body } = operation
  const caller = await newOperator(server)
  const ground: Ground = { server, caller, owner: caller, ids: {} }
  for (const { name, in: place } of parameters) {
    if (place !== 'path') continue
    if (name === 'appId') {
      const app = await server.newApp()
      if (role !== 'owner') ground.owner = await newOperator(server)
      await join(server, app, ground.owner, 'owner')
      if (role && role !== 'owner') await join(server, app, caller, role)
      ground.ids.appId = app.id
    } else {
      const make = resources[name]
      if (!make) throw new Error(`management-resources.ts says not how to make a "${name}"`)
      ground.ids[name] = await make(ground)
    }
  }
  const sample = samples[operationId]
  if (!sample && body !== undefined) {
    throw new Error(`management-resources.ts has no sample of ${operationId}`)
  }
  return { operation, caller, ids: ground.ids, ...(await sample?.(ground)) }
}

/** Entries of this file that no operation uses. */
export function staleSamples(): string[] {
  const ids = managementOperations.map(({ operationId }) => operationId)
  const names = managementOperations.flatMap(({ parameters }) => parameters.map(({ name }) => name))
  return [
    ...Object.keys(samples).filter((operationId) => !ids.includes(operationId)),
    ...Object.keys(resources).filter((name) => !names.includes(name)),
  ]
}
