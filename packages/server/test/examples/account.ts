/** The management API: Rui signs up, creates the app of a clinic and invites Kim. */
import { stepOf, totpCode } from '../../src/platform/secrets/totp.ts'
import type { Story } from './story.ts'

const RUI = { email: 'rui@clinic.example', password: 'seven quiet lamps' }
const KIM = { email: 'kim@clinic.example', password: 'eleven paper boats' }

/** Signs in and sends the session's cookie from now on. */
async function signIn(story: Story, body: object): Promise<void> {
  const { headers } = await story.send('createSession', { body })
  story.headers.operator.cookie = cookieOf(headers)
}

const cookieOf = (headers: Headers) => (headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''

/** Returns the id of the new app. */
export async function createAccountAndApp(story: Story): Promise<string> {
  await story.show('createOperator', { body: { ...RUI, name: 'Rui Costa' } })
  await story.show('createSession', { body: RUI })
  await signIn(story, RUI)
  await story.show('getSession')
  await story.show('getOperator')
  const app = await story.run('createApp', { body: { name: 'Clinic chat', region: 'us' } })
  story.masks.add(app.id, 'clinic7f3a9c2e')
  await story.show('createApp', { body: { name: 'Clinic chat (test)', region: 'us' } })
  const keys: { apiKey: string; scope: string }[] = Object.values(app.apiKeys)
  const key = keys.find(({ scope }) => scope === 'fullAccess')
  story.headers.app = { appid: app.id, apikey: key?.apiKey ?? '' }
  return app.id
}

/** Everything about the app besides its data. */
export async function manageApp(story: Story, appId: string): Promise<void> {
  const ids = { appId }
  await story.show('listApps', { query: { searchKey: 'clinic', perPage: 10 } })
  await story.show('getApp', { ids })
  await story.show('updateApp', { ids, body: { name: 'Clinic chat' } })
  await story.show('getSettings', { ids })
  await story.show('setSettings', {
    ids,
    body: {
      settings: { 'limits.membersPerGroup': 500, 'cors.origins': 'https://ward.clinic.example' },
    },
  })
  await story.show('resetSettings', { ids, body: { settings: ['limits.membersPerGroup'] } })
  const { admins } = await story.show('changeCollaborators', { ids, body: { admins: [KIM.email] } })
  await acceptInvitation(story, admins[KIM.email].invitation)
  await story.show('listCollaborators', { ids, query: { perPage: 10 } })
  const period = { fromDate: 1_767_225_600, toDate: 1_769_904_000 }
  await story.show('listTenants', { query: { searchKey: 'clinic', perPage: 10, ...period } })
  const today = new Date()
  const ends = [-1, 0].map((nth) => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + nth))
  const [from = '', to = ''] = [ends[0] ?? 0, (ends[1] ?? 0) - 1].map((time) => {
    return new Date(time).toISOString().slice(0, 10)
  })
  await story.show('createUsageReport', {
    ids,
    body: { usePreviousBillingCycle: true },
    masks: { [from]: '2026-01-01', [to]: '2026-01-31' },
  })
  await story.show('getStorage', { ids })
  await story.show('listAppAuditEntries', { ids, query: { action: 'setSettings', limit: 1 } })
  await story.show('deleteApp', { ids })
  await story.show('restoreApp', { ids })
}

/** Kim signs up later and finds the invitation in her mail. */
async function acceptInvitation(story: Story, invitation: string): Promise<void> {
  const { cookie } = story.headers.operator
  await story.run('createOperator', { body: { ...KIM, name: 'Kim Larsen' } })
  await signIn(story, KIM)
  await story.show('acceptInvitation', { body: { invitation } })
  Object.assign(story.headers.operator, { cookie })
}

/** Rui's own account. */
export async function secureAccount(story: Story): Promise<void> {
  const { password } = RUI
  const key = await story.show('createKey', { body: { name: 'Deployment', password } })
  await story.show('listKeys', { query: { perPage: 10 } })
  await story.show('rotateKey', { ids: { key: key.key }, body: { password } })
  await story.show('deleteKey', { ids: { key: key.key } })
  const { secret } = await story.show('startTotp', { body: { password } })
  const code = totpCode(secret, stepOf(Date.now()))
  await story.show('confirmTotp', { body: { code }, masks: { [code]: '492039' } })
  await story.show('renewTotpCodes', { body: { password } })
  await story.show('deleteTotp', { body: { password } })
  await story.show('updateOperator', { body: { name: 'Rui M. Costa' } })
  const other = await story.run('createSession', { body: RUI })
  await story.show('listSessions', { query: { perPage: 10 } })
  await story.show('deleteSession', { ids: { sessionId: other.session.id } })
  await story.show('endOtherSessions')
  await story.show('listAuditEntries', { query: { action: 'createApp', limit: 1 } })
  await story.show('endSession')
}
