/** Creates an app full of data that tries to run scripts in the console. */
import { recordLog } from '../../server/src/core/notifications/log.ts'
import type { TestApp, TestServer } from '../../server/test/kit.ts'
import { join, newOperator } from '../../server/test/operators.ts'
import { until } from '../../server/test/until.ts'
import { addJobs, addRejected, askAgent, type DemoApp } from './demo-app.ts'
import { startReceiver } from './receiver.ts'

/** Runs if it becomes markup. Tests look for it as text. */
export const SCRIPT = '<img src=x onerror=hacked=1>'
const LINK = 'javascript:hacked=1//'
const MORE = `"'><script>hacked=1</script><svg onload=hacked=1>${LINK}`
const LONG = `${SCRIPT}${MORE}\u202e${'W'.repeat(200)}`

async function addUsers({ call }: TestApp) {
  const metadata = { [SCRIPT]: LONG, link: LINK, html: MORE }
  const tags = [SCRIPT, LINK]
  const more = { metadata, tags, statusMessage: LONG.slice(0, 100) }
  for (const uid of ['eve', 'mallory']) {
    const name = `${SCRIPT} ${uid}`
    const user = { uid, name, ...more, avatar: `https://evil.example/${uid}.png` }
    await call('POST', '/v3/users', { body: user })
  }
  // The API may reject these. The pages must cope with whatever it accepts.
  for (const field of ['avatar', 'link']) {
    const user = { uid: `with-${field}`, name: SCRIPT, ...more, [field]: LINK }
    await call('POST', '/v3/users', { body: user })
  }
}

const addRoles = ({ call }: TestApp) =>
  call('POST', '/v3/roles', {
    body: { role: 'nurse', name: SCRIPT, description: LONG.slice(0, 100) },
  })

async function addGroups({ call }: TestApp) {
  const group = { guid: 'trap', name: SCRIPT, type: 'public', description: LONG, owner: 'eve' }
  await call('POST', '/v3/groups', { body: { ...group, metadata: { html: MORE, link: LINK } } })
  await call('POST', '/v3/groups/trap/members', { body: { participants: ['mallory'] } })
}

async function talk({ call }: TestApp) {
  const attachments = [
    { url: LINK, name: SCRIPT, mimeType: 'text/html', extension: 'html', size: 1 },
    { url: 'https://evil.example/a.svg', name: MORE, mimeType: 'image/svg+xml', extension: 'svg' },
  ]
  const bodies = [
    { data: { text: LONG, metadata: { html: MORE, link: LINK } }, tags: [SCRIPT] },
    { data: { text: `[click](${LINK}) ${LINK} data:text/html,${MORE}` } },
    { type: 'image', data: { text: SCRIPT, url: LINK, attachments } },
    { category: 'custom', type: 'trap', data: { customData: { html: MORE, link: LINK } } },
  ]
  for (const body of bodies) {
    for (const [receiver, receiverType] of [
      ['mallory', 'user'],
      ['trap', 'group'],
    ]) {
      const headers = { onbehalfof: 'eve' }
      await call('POST', '/v3/messages', {
        body: { receiver, receiverType, ...body },
        headers,
      })
    }
  }
}

async function addWebhooks({ call }: TestApp) {
  const url = await startReceiver(() => ({ status: 500, body: LONG }))
  const webhookURL = `${url}/?${SCRIPT.replaceAll(' ', '+')}`
  const webhook = { id: 'trap', name: SCRIPT, webhookURL, retryOnFailure: false }
  await call('POST', '/v3/webhooks', { body: webhook })
  await call('POST', '/v3/webhooks/trap/triggers', { body: { triggerIds: ['message_sent'] } })
}

async function addModeration({ call }: TestApp) {
  const of = { name: SCRIPT, description: SCRIPT }
  const list = { id: 'trap', ...of, category: 'word', searchTerms: [SCRIPT.slice(0, 100)] }
  await call('POST', '/v3/moderation/keywords', { body: list })
  const conditions = [{ category: 'word', value: [SCRIPT.slice(0, 100)] }]
  await call('POST', '/v3/moderation/rules', { body: { id: 'trap', ...of, conditions } })
  await call('POST', '/v3/moderation/reasons', { body: { id: 'trap', ...of } })
  const url = 'https://models.example/v1'
  await call('POST', '/v3/model-providers', { body: { id: 'trap', name: SCRIPT, url } })
}

async function addReviews({ call }: TestApp) {
  const headers = { onbehalfof: 'mallory' }
  const { body } = await call('GET', '/v3/users/eve/messages', { headers })
  const [first, second] = body.data.map(({ id }: { id: string }) => id)
  const flag = { headers, body: { reasonId: 'trap', remark: LONG } }
  for (const path of [`/messages/${first}`, `/messages/${second}`, '/users/eve', '/groups/trap']) {
    await call('POST', `/v3${path}/flagged`, flag)
  }
  const hidden = { body: { status: 'disapproved' } }
  await call('PATCH', `/v3/moderation/flagged-messages/${first}`, hidden)
  const sanction = { uid: 'eve', kind: 'mute', guid: 'trap', reason: SCRIPT }
  await call('POST', '/v3/moderation/sanctions', { body: sanction })
}

async function addLog({ no, cell, client }: TestApp) {
  await client.notificationSettings.update({ emailDesign: { appName: SCRIPT, footer: SCRIPT } })
  await client.notificationLogs.updateSettings({ enabled: true })
  const now = new Date()
  await recordLog(cell.db, no, [
    {
      ...{ uid: 'eve', sender: 'mallory', receiver: 'trap', receiverType: 'group' },
      ...{ channel: 'push', trigger: 'after_message', triggered: false, reason: 'NOT_FOUND' },
      ...{ platform: 'fcm_web', pushToken: SCRIPT, payload: { [SCRIPT]: LONG, link: LINK } },
      ...{ sentAt: now, startedAt: now, endedAt: now },
    },
  ])
}

async function addCalls(app: TestApp): Promise<string> {
  const call = { receiver: 'mallory', receiverType: 'user', type: 'audio' } as const
  const { sessionId } = await app.as('eve').calls.start({ ...call, deviceId: SCRIPT })
  await app.as('mallory').calls.join(sessionId, { deviceId: LONG.slice(0, 100) })
  return sessionId
}

async function addAgents(app: TestApp) {
  const of = { name: SCRIPT, description: LONG.slice(0, 200) }
  const { call } = app
  const tool = { slug: 'trap', ...of, endpoint: 'https://evil.example/', method: 'GET' }
  await call('POST', '/v3/ai-agents/agent-builder/api-tools', {
    body: { ...tool, enableBasicAuth: false },
  })
  await app.client.knowledge.createText({ title: SCRIPT, text: MORE })
  const markdown = `${SCRIPT} [click](${LINK}) ![look](https://evil.example/a.png)`
  const asked = await askAgent(
    app,
    { ...of, model: 'm', instruction: LONG, metaData: { html: MORE, link: LINK } },
    { answer: markdown, questions: [['eve', `${SCRIPT} ${LINK}`]] },
  )
  const { agentUid } = asked
  await app.as('eve').agentHandovers.create({ agentUid, reason: `${SCRIPT} ${LINK}` })
  return asked
}

export async function createHostileApp(server: TestServer): Promise<DemoApp> {
  const operator = await newOperator(server)
  const app = await server.newApp('eu')
  await join(server, app, operator, 'owner')
  await operator.client.apps.update(app.id, { name: SCRIPT })
  await operator.client.collaborators.change(app.id, {
    admins: ['"<svg/onload=hacked=1>"@x.example'],
  })
  await app.client.apiKeys.create({ name: SCRIPT, scope: 'fullAccess' })
  await addUsers(app)
  await addGroups(app)
  await addRoles(app)
  await addWebhooks(app)
  await addModeration(app)
  await talk(app)
  await addReviews(app)
  await addLog(app)
  await addJobs(app, SCRIPT)
  await addRejected(app, 'eve', SCRIPT)
  const sessionId = await addCalls(app)
  const asked = await addAgents(app)
  await until('the webhook was called', async () => {
    const { data } = await app.client.webhooks.listDeliveries('trap')
    return data.length > 0
  })
  await operator.client.apps.update(app.id, { name: `${SCRIPT} ${LINK}` })
  const ids = { appId: app.id, uid: 'eve', guid: 'trap', webhookId: 'trap', sessionId, ...asked }
  return { app, operator, ids }
}
