/** Creates a realistic app for screenshots: the staff of a clinic, their groups and a month of usage. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { uploadFile } from '@loquat/sdk'
import { type LogEntry, recordLog } from '../../server/src/core/notifications/log.ts'
import type { TestApp, TestServer } from '../../server/test/kit.ts'
import { rows } from '../../server/test/log-writers.ts'
import { phonePhoto, wav } from '../../server/test/media.ts'
import { modelServer } from '../../server/test/model-server.ts'
import { join, newOperator, type TestOperator } from '../../server/test/operators.ts'
import { until } from '../../server/test/until.ts'
import { checked, readyFile, upload, withFiles } from '../../server/test/upload.ts'
import type { Ids } from './pages.ts'
import { startReceiver } from './receiver.ts'

export interface DemoApp {
  app: TestApp
  operator: TestOperator
  ids: Ids
}

const PEOPLE = [
  ...['Amira Haddad', 'Ben Okafor', 'Cleo Marchetti', 'Dmitri Volkov', 'Eszter Nagy'],
  ...['Farid Rahimi', 'Greta Lindqvist', 'Hiro Tanaka', 'Inés Castillo', 'Jonas Weber'],
  ...['Katya Orlova', 'Liam O’Connor', '陈美玲', 'Noor Rahman', 'Olu Adeyemi', 'Priya Nair'],
  ...['Quentin Dubois', 'Rosa Jiménez', 'Sami Laine', 'Tomás Silva', 'Uma Krishnan'],
]
const GROUPS = [
  { guid: 'night-shift', name: 'Night shift', type: 'private' },
  { guid: 'ward-3', name: 'Ward 3', type: 'public' },
  { guid: 'book-club', name: 'Book club', type: 'password', password: 'page one' },
] as const
const LINES = [
  'Good morning! Who has the keys to the second floor?',
  "I do. I'm at the desk until ten.",
  'The new tablets are here. Could someone help me set them up after lunch?',
  "Sure, I'll bring the chargers 👍",
  'Room 12 is asking for a visit at 15:30.',
  'On my way.',
  'Thanks, everyone. We finished the rounds in record time today.',
]

export const uidOf = (name: string) => `u${PEOPLE.indexOf(name) + 1}`

async function addPeople({ client }: TestApp) {
  for (const name of PEOPLE) {
    const tags = name.length % 3 === 0 ? ['nurse'] : ['staff']
    await client.users.create({ uid: uidOf(name), name, tags, metadata: { ward: 3 } })
  }
  await client.users.create({ uid: 'former', name: 'Former nurse' })
  await client.erasures.create('former', { mode: 'anonymise' })
}

async function addRoles({ client }: TestApp) {
  await client.roles.create({
    ...{ role: 'nurse', name: 'Ward nurse' },
    description: 'Writes to colleagues on the ward, and sends no files.',
  })
  const permissions = {
    'sendMessage.allowedMessageTypes': ['text', 'image'],
    'createGroup.allowedGroupTypes': ['private'],
    deleteMessage: 'deny',
  }
  await client.permissions.updateRole('nurse', { permissions })
}

async function addModeration({ client }: TestApp) {
  const url = 'https://models.clinic.example/v1'
  await client.modelProviders.create({ id: 'moderation-models', name: 'Own models', url })
  await client.moderationChecks.updateSettings({ url: 'https://clinic.example/check' })
  await client.keywordLists.create({
    ...{ id: 'ward-slang', name: 'Ward slang', category: 'word' },
    ...{ description: 'Words that patients should not read', searchTerms: ['bed blocker'] },
  })
  await client.moderationRules.create({
    ...{ id: 'diagnoses', name: 'No diagnoses', enabled: true },
    description: 'Patients stay private in public groups.',
    filters: [
      { type: 'receiver', entity: 'group', operand: 'type', operator: 'equals', value: 'public' },
    ],
    conditions: [
      { category: 'word', value: ['diagnosis'] },
      { category: 'word', isKeywordReferencePresent: true, value: 'ward-slang' },
    ],
  })
  await client.flagReasons.create({ id: 'off-topic', name: 'Off topic', description: 'Not here' })
}

async function addGroups({ client }: TestApp) {
  for (const [n, group] of GROUPS.entries()) {
    await client.groups.create({ ...group, owner: 'u1' })
    const participants = PEOPLE.slice(1, 6 + 4 * n).map(uidOf)
    await client.groupMembers.add(group.guid, { participants })
  }
}

async function talk(app: TestApp) {
  const { call } = app
  const say = (from: string, receiver: string, receiverType: string, text: string) =>
    call('POST', '/v3/messages', {
      body: { receiver, receiverType, data: { text } },
      headers: { onbehalfof: from },
    })
  for (const [n, text] of LINES.entries()) {
    await say(`u${(n % 4) + 1}`, 'ward-3', 'group', text)
    await say(n % 2 ? 'u1' : 'u2', n % 2 ? 'u2' : 'u1', 'user', text)
    await say('u3', `u${n + 5}`, 'user', text)
  }
  await sendFiles(app)
  await addRejected(app, 'u2', 'holiday.png')
}

/** A photo and a voice message, in the newest conversation. */
async function sendFiles(app: TestApp) {
  const amira = app.as('u1')
  const files = [
    { bytes: await phonePhoto(900, 1200), name: 'View from Ward 3.jpg', mimeType: 'image/jpeg' },
    { bytes: wav(), name: 'Voice message.wav', mimeType: 'audio/wav', voice: true },
  ]
  for (const { bytes, ...more } of files) {
    const id = await readyFile(app, amira, Buffer.from(bytes), more)
    const type = more.voice ? ('audio' as const) : ('image' as const)
    await amira.messages.send(withFiles('u2', [id], { type }))
  }
}

/** A file that isn't what it says. */
export async function addRejected(app: TestApp, uid: string, name: string) {
  const user = app.as(uid)
  const id = await upload(app, user, Buffer.from('<html>'), { name, mimeType: 'image/png' })
  await checked(user, id)
}

/** Thirty days of usage with quiet weekends, stored as the workers would store it. */
/** None of these is due, so no worker runs them. */
export async function addJobs({ no, cell }: TestApp, error: string) {
  const text = `insert into jobs
      (app_no, id, name, state, tries, input, done, total, error, created_at, run_at, ended_at)
    select $1, tick() + nth, name, state, tries, jsonb_build_object('guid', $2::text), done, total,
      error, now() - nth * interval '9 minutes', now() + interval '1 hour',
      case when state in ('dead', 'cancelled') then now() end
    from (values
      (4, 'groups.sweep', 'dead', 10, 12000, null, $2),
      (3, 'users.sweep', 'waiting', 3, 4000, 9200, 'canceling statement due to statement timeout'),
      (2, 'conversations.sweep', 'waiting', 0, null, null, null),
      (1, 'webhooks.sweep', 'cancelled', 1, 1000, null, null)
    ) job (nth, name, state, tries, done, total, error)`
  await cell.db.query({ name: '', text, values: [no, error] })
}

async function addUsage({ no, cell }: TestApp) {
  for (let ago = 30; ago >= 0; ago--) {
    const day = `utc_day(now()) - ${ago}`
    const weekend = new Date(Date.now() - ago * 86_400_000).getUTCDay() % 6 === 0
    const active = Math.round((weekend ? 90 : 240) * (1 + 0.25 * Math.sin(ago / 4)))
    const counts = {
      'message.sent': active * 31,
      'conversation.read': active * 22,
      'api.createMessage.200': active * 31,
      'api.listConversations.200': active * 12,
      'api.createMessage.400': Math.round(active / 9),
      'webhook.delivered': active * 31,
      'call.audio.ms': active * 90_000,
      'call.video.ms': active * (weekend ? 110_000 : 40_000),
      'webhook.failed': ago === 9 ? 400 : Math.round(active / 40),
    }
    const values = Object.entries(counts).map(([what, n]) => `(${no}, ${day}, '${what}', ${n})`)
    await rows(
      cell.db,
      `insert into usage_days (app_no, day, what, count) values ${values.join(',')}
       on conflict (app_no, day, what) do update set count = excluded.count`,
    )
    // Most users were active the day before. The others are new.
    const newUsers = Math.round(active / 8)
    await rows(
      cell.db,
      `insert into usage_returns (app_no, day, before, users)
       values (${no}, ${day}, ${day} - 1, ${active - newUsers}), (${no}, ${day}, '-infinity', ${newUsers})
       on conflict do nothing`,
    )
    await rows(
      cell.db,
      `insert into usage_peaks (app_no, day, online)
       values (${no}, ${day}, ${Math.round(active / 3)}) on conflict do nothing`,
    )
  }
}

/** Two webhooks: one that works, and one whose receiver is down. */
async function addWebhooks({ client }: TestApp) {
  const webhooks = [
    { id: 'archive', name: 'Archive', answer: () => ({ status: 200, body: '{"stored":true}' }) },
    { id: 'paging', name: 'Paging', answer: () => ({ status: 503, body: 'Down for maintenance' }) },
  ]
  for (const { id, name, answer } of webhooks) {
    const webhookURL = `${await startReceiver(answer)}/hooks/chat`
    await client.webhooks.create({ id, name, webhookURL })
    await client.webhooks.addTriggers(id, { triggerIds: ['message_sent', 'message_edited'] })
  }
}

const delivered = ({ client }: TestApp, id: string) =>
  until('the webhook was called', async () => {
    const { data } = await client.webhooks.listDeliveries(id)
    return data.length > 0
  })

/** What waits for moderators, and what they decided before. */
async function addReviews(app: TestApp) {
  const { client } = app
  const hers = await app.as('u2').sendText('u1', 'Buy two masks, get one free! 👉 masks.example')
  await app.as('u3').sendText('ward-3', 'The diagnosis of room 12 is in', { receiverType: 'group' })
  await app
    .as('u1')
    .messages.flag(hers.id, { reasonId: 'spam', remark: 'The third time this week' })
  await app.as('u4').users.flag('u9', { reasonId: 'harassment' })
  await app.as('u5').groups.flag('ward-3', { reasonId: 'off-topic', remark: 'Only football' })
  const until = Math.floor(Date.now() / 1000) + 86_400
  await client.sanctions.create({
    uid: 'u9',
    kind: 'mute',
    guid: 'ward-3',
    until,
    reason: 'Insults',
  })
  await client.sanctions.create({ uid: 'u12', kind: 'ban', reason: 'Sold masks again and again' })
}

/** Providers, suppressed addresses, and a log with most kinds of entries. */
async function addNotifications({ no, cell, client }: TestApp) {
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const subject = 'mailto:it@clinic.example'
  for (const providerId of ['browsers-2025', 'browsers-2026'])
    await client.pushProviders.createWeb({ providerId, subject })
  await client.pushProviders.setDefaultWeb('browsers-2026')
  await client.pushProviders.createApns({
    ...{ providerId: 'ward-ipads', keyId: 'K2DEF4G7H8', teamId: 'T9AB3C4D5E' },
    ...{ bundleId: 'example.clinic.ward', p8KeyFilename: 'AuthKey.p8', productionMode: true },
    p8Key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem).toString(),
  })
  const own = {
    ...{ isEnabled: false, webhookURL: 'https://push.clinic.example/loquat', useBasicAuth: false },
    ...{ basicAuthUsername: '', basicAuthPassword: '' },
  }
  await client.pushProviders.createCustom(own)
  await client.emailProviders.createCustom({ ...own, useStoredEmailID: true })
  await client.smsProviders.createCustom({ ...own, useStoredPhNo: true })
  await client.smsProviders.createTwilio({
    ...{ twilioAccountSID: `AC${randomBytes(16).toString('hex')}`, isEnabled: true },
    ...{ twilioAuthToken: randomBytes(16).toString('hex') },
    twilioSenderPhoneNumber: '+14155550100',
  })
  const sender = { senderName: 'Clinic chat', senderEmail: 'chat@clinic.example' }
  await client.emailProviders.createSmtp({
    ...{ smtpHost: 'mail.clinic.example', smtpPort: 587, smtpSecurity: 'starttls' },
    ...{ smtpUsername: 'chat', smtpPassword: randomBytes(9).toString('hex') },
    ...{ ...sender, allowEmailReplies: false },
  })
  await client.emailProviders.createSendgrid({
    ...{ sendGridApiKey: randomBytes(16).toString('hex'), sendGridTemplateID: 'd-1f2e3d' },
    ...{ sendGridUnsubscribeGroupID: '4711', ...sender, isEnabled: false },
    ...{ allowEmailReplies: true, senderEmailForReplies: 'reply@chat.clinic.example' },
  })
  await client.notificationSettings.update({
    emailDesign: { appName: 'Clinic chat', openUrl: 'https://chat.clinic.example/{{type}}/{{id}}' },
  })
  const gone = { channel: 'email', address: 'u9@old.example' } as const
  await client.suppressions.create({ ...gone, reason: 'bounce' })
  await client.suppressions.create({ ...gone, address: 'u7@mail.example', reason: 'complaint' })
  await client.suppressions.create({ channel: 'sms', address: '+14155550100' })
  await client.notificationLogs.updateSettings({ enabled: true })
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000)
  const common = {
    ...{ channel: 'push', trigger: 'after_message', category: 'message', type: 'text' },
    ...{
      sender: 'u2',
      receiver: 'ward-3',
      receiverType: 'group',
      messageId: 4_000_000_000_000_000,
    },
  } as const
  const title = 'Ben Okafor @ Ward 3'
  const payload = { title, body: LINES[0], tag: '4000000000000000', type: 'chat' }
  const apns = { provider: 'apns', providerId: 'ward-ipads', platform: 'apns_ios_device' } as const
  const web = { provider: 'web_push', providerId: 'browsers-2026', platform: 'web_push' } as const
  const token = { pushToken: randomBytes(32).toString('hex') }
  const outcomes: Partial<LogEntry>[] = [
    { ...web, ...token, uid: 'u1', triggered: true, success: true, payload },
    { uid: 'u3', triggered: false, reason: 'MUTE_PREFERENCE' },
    { uid: 'u4', triggered: false, reason: 'SCHEDULE_PREFERENCE' },
    { uid: 'u5', triggered: false, reason: 'NO_PUSH_TOKEN' },
    { ...apns, ...token, uid: 'u6', triggered: true, success: false, reason: 'NOT_FOUND', payload },
    { uid: 'u2', triggered: false, reason: 'OWN_ACTION' },
  ]
  for (const [n, outcome] of outcomes.entries()) {
    const times = { sentAt: at(600), startedAt: at(90 - n), endedAt: at(89.9 - n) }
    await recordLog(cell.db, no, [{ ...common, ...times, ...outcome } as LogEntry])
  }
}

/** A meeting that goes on, a long call of yesterday, and calls that nobody answered. */
async function addCalls(app: TestApp): Promise<string> {
  const meeting = await app.as('u1').calls.start({
    ...{ receiver: 'ward-3', receiverType: 'group', type: 'video', mode: 'meet' },
    deviceId: 'Ward tablet',
  })
  for (const uid of ['u2', 'u3']) {
    await app.as(uid).calls.join(meeting.sessionId, { deviceId: `Phone of ${uid}` })
  }
  const dial = async (from: string, to: string, type: 'audio' | 'video') => {
    const call = { receiver: to, receiverType: 'user', type, deviceId: 'Laptop' } as const
    return (await app.as(from).calls.start(call)).sessionId
  }
  await app.as('u11').calls.cancel(await dial('u11', 'u13', 'audio'))
  await app.as('u8').calls.reject(await dial('u7', 'u8', 'video'))
  const talked = await dial('u5', 'u6', 'audio')
  await app.as('u6').calls.join(talked, { deviceId: 'Phone' })
  await app.as('u6').calls.leave(talked, { deviceId: 'Phone' })
  const ofCall = `app_no = ${app.no} and`
  await rows(
    app.cell.db,
    `update calls set initiated_at = now() - interval '26 hours',
       started_at = now() - interval '26 hours' + interval '9 seconds',
       ended_at = now() - interval '25 hours 12 minutes'
     where ${ofCall} status = 'ended'`,
  )
  await rows(
    app.cell.db,
    `update call_participants set joined_at = now() - interval '26 hours' + interval '9 seconds',
       left_at = now() - interval '25 hours 12 minutes'
     where ${ofCall} state = 'ended'`,
  )
  await rows(
    app.cell.db,
    `update calls set initiated_at = now() - interval '13 minutes', started_at = now() - interval '13 minutes'
     where ${ofCall} status = 'ongoing'`,
  )
  await rows(
    app.cell.db,
    `update call_participants set joined_at = now() - interval '13 minutes'
       + case uid when 'u2' then interval '1 minute' when 'u3' then interval '6 minutes' else '0' end
     where ${ofCall} state = 'ongoing'`,
  )
  return meeting.sessionId
}

const ANSWER = `You can collect your results from 9:00 to 17:00:

1. Go to the **second floor**.
2. Ask at the desk of Ward 3.`

const BRIEFLY = 'Answer in one sentence.'
const DOWN = { rating: 'down', comment: 'Which floor?' } as const

/**
 * Lets users ask an agent, one after the other, rate its answers, and returns the first and the last run. The first one is
 * replayed with other instructions. The model fails on command.
 */
export async function askAgent(
  app: TestApp,
  agent: Parameters<TestApp['client']['agents']['create']>[0],
  { answer, questions }: { answer: string; questions: [from: string, text: string][] },
): Promise<{ agentUid: string; runId: string; replayedId: string }> {
  const { client } = app
  const { models, start, end } = modelServer(({ turns, system }) => {
    if (turns.at(-1)?.content.startsWith('Fail')) return 400
    return `${answer}${system === BRIEFLY ? '\n\nBring your card.' : ''}`.split(/(?<= )/)
  })
  await start()
  const { url, key } = models
  const prices = { inputPrice: 2.5, outputPrice: 10 }
  await client.modelProviders.create({ id: 'house', name: 'House models', url, key, ...prices })
  const { uid: agentUid } = await client.agents.create({ ...agent, providerId: 'house' })
  let [runId, replayedId] = ['', '']
  for (const [from, text] of questions) {
    const { id } = await app.as(from).sendText(agentUid, text)
    const run = await until('the run has ended', async () => {
      const { data } = await client.agentRuns.list()
      return data.find(({ messageId, endedAt }) => messageId === id && endedAt)
    })
    runId = run.id
    replayedId ||= runId
    if (run.answerId !== undefined) {
      const up = { rating: 'up', comment: text } as const
      await app.as(from).agentRatings.set(runId, from === 'u1' ? DOWN : up)
    }
  }
  const changes = { instruction: BRIEFLY }
  const { id } = await client.agentReplays.start(replayedId, { mode: 'live', changes })
  await until('the replay has ended', async () => {
    const { endedAt } = await client.agentReplays.get(replayedId, id)
    return endedAt !== undefined
  })
  end()
  return { agentUid, runId, replayedId }
}

/** Two conversations wait for a person, and one was handed back. */
async function addHandovers({ client, as }: TestApp, agentUid: string) {
  const reasons = {
    u4: 'Nobody answers the phone.',
    u13: '我想预约',
    u1: 'I want to talk to a doctor.',
  }
  for (const [uid, reason] of Object.entries(reasons)) {
    const { id } = await as(uid).agentHandovers.create({ agentUid, reason })
    if (uid !== 'u4') continue
    await client.agentHandovers.take(id)
    await client.agentHandovers.answer(id, { text: 'I am sorry. We call you at noon.' })
    await client.agentHandovers.close(id)
  }
}

/** A text that an agent knows, a website that moved, and a file that no agent knows. */
async function addKnowledge({ knowledge }: TestApp['client'], agentUid: string): Promise<void> {
  const moved = createServer((request, response) => {
    const location = 'https://www.clinic.example/'
    if (request.url === '/robots.txt') response.writeHead(404).end()
    else response.writeHead(301, { location }).end()
  })
  await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve))
  const { port } = moved.address() as AddressInfo
  const site = { url: `http://127.0.0.1:${port}/`, title: 'Website of the clinic' }
  const { uniqueId: website } = await knowledge.createWebsite(site)
  const { uniqueId: text } = await knowledge.createText({
    ...{ title: 'Visiting hours', text: '# Wards\n\nEvery day from 14:00 to 19:00.' },
  })
  await knowledge.createText({ title: '病房规则', text: '请保持安静。' })
  await until('they are indexed', async () => {
    const states = await knowledge.poll({ uniqueId: [website, text] })
    return Object.values(states).every((state) => state !== 'indexing')
  })
  moved.close()
  moved.closeAllConnections()
  await knowledge.attach(agentUid, 'text', { uniqueIds: [text] })
  await knowledge.attach(agentUid, 'websites', { uniqueIds: [website] })
}

/** Agents with tools, answers and a failure, and budgets that are nearly used up. */
async function addAgents(app: TestApp) {
  const { client } = app
  await client.apiTools.create({
    ...{ slug: 'find_slot', name: 'Find a free appointment', method: 'GET' },
    description: 'Finds free appointments of a doctor.',
    ...{ endpoint: 'https://clinic.example/slots', enableBasicAuth: false },
    parameters: [{ key: 'doctor', type: 'string', required: true, description: 'Name' }],
  })
  await client.mcpServers.create({
    ...{ slug: 'wiki', name: 'Ward wiki', url: 'https://wiki.clinic.example/mcp' },
    description: 'Articles for patients.',
  })
  await client.frontendActions.create({
    ...{ triggerFunction: 'openCalendar', name: 'Open calendar' },
    description: 'Shows the calendar of the patient.',
  })
  await client.agentVariables.create({
    ...{ name: 'ward', sourceType: 'user_metadata', sourcePath: 'ward', defaultValue: 'unknown' },
    description: 'Where the user works',
  })
  await client.agents.create({ name: 'Night nurse', model: 'house-small', isActive: false })
  const photo = new Blob([Buffer.from(await phonePhoto(300, 300))], { type: 'image/jpeg' })
  const { url: icon } = await uploadFile(client.files, photo, { name: 'shop.jpg', picture: true })
  await client.externalAgents.create({
    ...{ name: 'Pharmacy', icon, integrateWith: 'mastra' },
    ...{ integrationType: 'agent', integrationMeta: { baseUrl: 'https://agents.clinic.example' } },
  })
  const asked = await askAgent(
    app,
    {
      ...{ name: 'Front desk', description: 'Answers questions of patients.' },
      instruction:
        'You are the front desk of a clinic.\n\n- Answer in two sentences.\n- The user is @var-auth:sender.name of ward @var-custom:ward.',
      ...{ model: 'house-large', apiTools: ['find_slot'], mcpServers: ['wiki'] },
    },
    {
      answer: ANSWER,
      questions: [
        ['u1', 'Where do I get my results?'],
        ['u13', '我的检查结果在哪里？'],
        ['u4', 'Fail, please'],
      ],
    },
  )
  await addHandovers(app, asked.agentUid)
  await addKnowledge(client, asked.agentUid)
  // Its history has two revisions.
  await client.agents.update(asked.agentUid, {
    instruction:
      'You are the front desk of a clinic.\n\n- Answer in three sentences.\n- The user is @var-auth:sender.name of ward @var-custom:ward.',
    model: 'house-small',
  })
  await client.agentBudgets.update({ appMonthTokens: 100_000, appMonthMoney: 20, runTokens: 9_000 })
  await rows(
    app.cell.db,
    `update agent_spending set tokens = tokens + 84000, money = money + 3.2 where app_no = ${app.no}`,
  )
  return asked
}

/** A file that was checked, with two lines that are refused. */
async function addImport({ client: { imports } }: TestApp) {
  const { id } = await imports.create({})
  const lines = [
    { kind: 'user', uid: 'u90', name: 'Ines Duarte' },
    { kind: 'user', name: 'Nobody' },
    { kind: 'message', receiver: 'ward-3', text: 'Who?' },
  ]
  await imports.uploadPart(id, '1', {
    lines: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  })
  await imports.start(id, { dryRun: true })
  await until('it is checked', async () => (await imports.get(id)).state === 'checked')
}

export async function createDemoApp(server: TestServer): Promise<DemoApp> {
  const mark = randomBytes(2).toString('hex')
  const operator = await newOperator(server, `rui.${mark}@clinic.example`)
  const colleague = await newOperator(server, `ana.${mark}@clinic.example`)
  const app = await server.newApp('eu')
  const other = await server.newApp('us')
  for (const { id, no } of [app, other]) {
    await join(server, { no }, operator, 'owner')
    const name = id === app.id ? 'Clinic chat' : 'Clinic chat (trial)'
    await operator.client.apps.update(id, { name })
  }
  const { collaborators, settings, keys } = operator.client
  await collaborators.change(app.id, { admins: [colleague.email] })
  await collaborators.change(app.id, { developers: [`kim.${mark}@clinic.example`] })
  const managed = operator.client.app(app.id)
  await managed.apiKeys.create({ name: 'Ward tablets', scope: 'authOnly' })
  await settings.set(app.id, { settings: { 'cors.origins': 'https://ward.clinic.example' } })
  await keys.create({ name: 'Deployment', password: operator.password })
  await addPeople(app)
  await addGroups(app)
  await addRoles(app)
  await addModeration(app)
  await addWebhooks(app)
  await addReviews(app)
  await addNotifications(app)
  await talk(app)
  await addUsage(app)
  await addImport(app)
  const sessionId = await addCalls(app)
  const asked = await addAgents(app)
  await addJobs(app, 'The connection was lost while the rows were removed.')
  await delivered(app, 'paging')
  // Makes updateApp the newest audit entry.
  await operator.client.apps.update(app.id, { name: 'Clinic chat' })
  const ids = { appId: app.id, uid: 'u1', guid: 'ward-3', webhookId: 'paging', sessionId, ...asked }
  return { app, operator, ids }
}
