/**
 * Every feature and every permission: allowed and denied, with a token, on behalf of a user and with a key alone, through
 * the REST API and on devices. A cell says how to try something; it must work without the rule, fail with it, and work
 * with it for the app. Each time, the explanation must say the same.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { type ClientFrameType, clientFrames } from '@loquat/protocol'
import type { ExplainPermissionBody } from '@loquat/sdk'
import {
  type Feature,
  features,
  type RolePermission,
  rolePermissions,
  type ScopePermission,
  scopePermissions,
} from '../src/core/access/definitions.ts'
import { operations } from './conformity.ts'
import { Device, tokenOf } from './device.ts'
import { type Answer, type CallOptions, type TestApp, useServer } from './kit.ts'
import { prepare, urlOf } from './resources.ts'
import { until } from './until.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const port = () => server.service.gatewayPort ?? 0

/** What no operation does yet, and why. */
const WAITING: Record<string, string> = {
  listSettings: 'users read no settings',
  logout: 'devices forget their token',
}

const HOW = ['token', 'onBehalfOf', 'key alone'] as const
type How = (typeof HOW)[number]

/** Calls as the acting user of a cell, or as the app. */
type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

interface World {
  app: TestApp
  /** Creates what a request needs, as the app. */
  given: Call
}

let serial = 0
const newId = () => `m${++serial}`

/** An app with the role `ruled`, its user `ana`, and others with the role `default`. */
async function newWorld(): Promise<World> {
  const app = await server.newApp()
  const given: Call = async (method, path, body) => {
    const answer = await app.call(method, `/v3${path}`, body === undefined ? {} : { body })
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  await given('POST', '/roles', { role: 'ruled', name: 'Ruled' })
  await given('POST', '/users', { uid: 'ana', name: 'Ana', role: 'ruled' })
  for (const uid of ['ben', 'cleo', 'dan']) await given('POST', '/users', { uid, name: uid })
  return { app, given }
}

async function callerOf({ app }: World, uid: string, how: How): Promise<Call> {
  const token = how === 'token' ? await tokenOf(app, uid) : ''
  const options: CallOptions =
    how === 'token'
      ? { apiKey: null, headers: { authtoken: token } }
      : how === 'onBehalfOf'
        ? { headers: { onbehalfof: uid } }
        : {}
  return (method, path, body) =>
    app.call(method, `/v3${path}`, { ...options, ...(body !== undefined && { body }) })
}

/** What to ask about a try. */
type Question = Omit<ExplainPermissionBody, 'uid'>

/** Whether the rules of a user allow something, as the explanation says. Built-in rules don't count. */
async function explained({ app }: World, uid: string, question: Question): Promise<boolean> {
  const { decidedBy } = await app.client.permissions.explain({ uid, ...question })
  return decidedBy === undefined || decidedBy.layer === 'built-in'
}

const isRule = ({ body }: Answer) =>
  ['ERR_FEATURE_RESTRICTED', 'ERR_PERMISSION_DENIED'].includes(body.error?.code)

// Features

interface Asked {
  request: Parameters<Call>
  question: Question
}

/** Whose features the operation itself chooses from: a request that uses the feature, the first word of the key. */
const CHOSEN: Record<string, (world: World) => Promise<Asked>> = {
  getMyDetails: async () => ({
    request: ['GET', '/users/ana'],
    question: { action: 'getUser', receiver: 'ana' },
  }),
  getUser: async () => ({
    request: ['GET', '/users/ben'],
    question: { action: 'getUser', receiver: 'ben' },
  }),
  createMessage: async () => ({
    request: ['POST', '/messages', text('ben')],
    question: { action: 'sendMessage', receiver: 'ben' },
  }),
  createMessageThread: async (world) => {
    const id = (await world.given('POST', '/messages', text('ana'))).body.data.id
    const body = { ...text(''), receiver: undefined, parentMessageId: id }
    const question = { action: 'sendMessage', receiver: 'ben', message: { reply: true } }
    return { request: ['POST', '/messages', body], question }
  },
  deleteMessage: async (world) => ({
    request: ['DELETE', `/messages/${await sent(world, text('ben'))}`],
    question: { action: 'deleteMessage', receiver: 'ben' },
  }),
  deleteGroupMessages: async (world) => {
    const guid = await groupOf(world)
    const id = await sent(world, text(guid, 'group'))
    return { request: ['DELETE', `/messages/${id}`], question: { action: 'deleteMessage', guid } }
  },
  createGroup: async () => ({
    request: ['POST', '/groups', newGroup('public')],
    question: { action: 'createGroup' },
  }),
  'massMemberOperate at creation': async () => ({
    request: [
      'POST',
      '/groups',
      { ...newGroup('public'), members: { participants: ['ben', 'dan'] } },
    ],
    question: { action: 'createGroup', several: true },
  }),
  massMemberOperate: async (world) => {
    const guid = await groupOf(world, 'admins')
    const body = { participants: ['ben', 'dan'] }
    const question = { action: 'addMembers', guid, several: true }
    return { request: ['POST', `/groups/${guid}/members`, body], question }
  },
  addMember: async (world) => {
    const guid = await groupOf(world, 'admins')
    const request: Asked['request'] = ['POST', `/groups/${guid}/members`, { participants: ['ben'] }]
    return { request, question: { action: 'addMembers', guid } }
  },
}

const featureOf = (key: string) => key.split(' ')[0] ?? key

const text = (receiver: string, receiverType = 'user') => ({
  ...{ receiver, receiverType, category: 'message', type: 'text', data: { text: 'Hello' } },
})

/** A message of `ana`. */
const sent = async ({ app }: World, body: object): Promise<string> =>
  (await app.as('ana').call('POST', '/v3/messages', { body })).body.data.id

/** A group of `cleo` that `ana` is in. */
async function groupOf({ given, app }: World, list = 'participants', type = 'public') {
  const guid = newId()
  await app.as('cleo').call('POST', '/v3/groups', {
    body: { guid, name: guid, type, ...(type === 'password' && { password: 'x' }) },
  })
  await given('POST', `/groups/${guid}/members`, { [list]: ['ana'] })
  return guid
}

const usersOf = ({ users, onBehalfOf }: (typeof operations)[number]) =>
  users !== false || onBehalfOf !== 'ignored'

suite('features', () => {
  const used = new Set(operations.flatMap((operation) => operation.features))

  test('every feature has an operation, or waits for one', () => {
    for (const feature of Object.keys(features) as Feature[]) {
      assert.equal(used.has(feature), WAITING[feature] === undefined, feature)
    }
  })

  test('every operation of users has a feature, or says why not', () => {
    for (const operation of operations.filter(usersOf)) {
      const { operationId, features: own, noFeature } = operation
      assert.ok(own.length > 0 !== (noFeature !== undefined), operationId)
    }
  })

  for (const operation of operations) {
    // Of several, the operation chooses: CHOSEN has a cell for each of them.
    const single = operation.features.length === 1 ? operation.features : []
    for (const feature of single) {
      suite(`${feature}: ${operation.operationId}`, () => {
        let world: World
        before(async () => {
          world = await newWorld()
        })

        for (const how of HOW) {
          const applies =
            how === 'token'
              ? operation.users !== false
              : how === 'onBehalfOf'
                ? operation.onBehalfOf !== 'ignored'
                : operation.onBehalfOf !== 'required'
          test(`${how}${applies ? '' : ' (not possible)'}`, { skip: !applies }, async () => {
            const { app, given } = world
            for (const denied of [false, true]) {
              const path = '/roles/ruled/restrictedfeatures'
              await given('DELETE', `${path}?allowAll=true`)
              const request = await prepare(app, operation)
              const { onBehalfOf } = request.ids
              const uid = onBehalfOf ?? request.ids.uid ?? 'ana'
              await given('PUT', `/users/${uid}`, { role: 'ruled' })
              if (denied) await given('POST', path, { featuresToRestrict: [feature] })
              const call = await callerOf(world, uid, how)
              const url = urlOf(request).replace(/^\/v3/, '')
              const answer = await call(operation.method, url, request.body)
              const expected = denied && how !== 'key alone'
              assert.equal(isRule(answer), expected, JSON.stringify(answer.body))
              const { guid, uid: other } = request.ids
              const question = {
                action: operation.operationId,
                ...(guid && { guid }),
                ...(other && other !== uid && { receiver: other }),
              }
              if (answer.status !== 200 || operation.method !== 'DELETE')
                assert.equal(await explained(world, uid, question), !denied)
              if (expected) {
                assert.equal(answer.status, 403)
                assert.deepEqual(answer.body.error.details.feature, [`u.${feature}`])
              } else if (how !== 'token') assert.equal(answer.status, 200)
            }
          })
        }
      })
    }
  }

  test('every other feature of an operation has a cell of its own', () => {
    const others = operations.filter(({ features: own }) => own.length > 1)
    const needed = new Set(others.flatMap((operation) => operation.features))
    // Bans are a feature of their own operation too.
    needed.delete('ban')
    assert.deepEqual([...needed].sort(), [...new Set(Object.keys(CHOSEN).map(featureOf))].sort())
  })

  for (const [key, request] of Object.entries(CHOSEN)) {
    for (const how of ['token', 'onBehalfOf'] as const) {
      test(`${key}: ${how}`, async () => {
        const feature = featureOf(key)
        const world = await newWorld()
        for (const denied of [false, true]) {
          const { request: asked, question } = await request(world)
          if (denied) {
            await world.given('POST', '/roles/ruled/restrictedfeatures', {
              featuresToRestrict: [feature],
            })
          }
          const answer = await (await callerOf(world, 'ana', how))(...asked)
          // Members are refused one by one.
          const refused = isRule(answer) || JSON.stringify(answer.body).includes('ERR_FEATURE')
          assert.equal(refused, denied, JSON.stringify(answer.body))
          assert.equal(await explained(world, 'ana', question), !denied)
        }
      })
    }
  }
})

// Permissions

/** Tries something, and says whether it worked or was shown. */
type Try = (call: Call, world: World) => Promise<boolean>

interface Cell {
  /** The value that denies it. */
  value: unknown
  try: Try
  ask: Question
  /** Whether the app can do it without a user. */
  alone?: boolean
  prepare?: (world: World) => Promise<void>
}

/** Whether a request isn't refused by a rule. */
const allowed = async (answer: Promise<Answer>): Promise<boolean> => {
  const result = await answer
  if (isRule(result)) return false
  assert.equal(result.status, 200, JSON.stringify(result.body))
  return true
}

const lists = async (answer: Promise<Answer>, field: string, id: string): Promise<boolean> => {
  const { status, body } = await answer
  if (status === 403) return false
  assert.equal(status, 200, JSON.stringify(body))
  const found = body.data.some((one: Record<string, unknown>) => one[field] === id)
  if (body.meta.pagination && !found) assert.ok(body.meta.pagination.total >= body.data.length)
  return found
}

const attachment = (mimeType: string) => ({
  ...{ receiver: 'ben', receiverType: 'user', category: 'message', type: 'image' },
  data: { attachments: [{ name: 'a', url: 'https://a.example/a', mimeType }] },
})

const image = attachment('image/png')

const custom = {
  ...{ receiver: 'ben', receiverType: 'user', category: 'custom', type: 'poll' },
  data: { customData: { a: 1 } },
}

const sends =
  (body: object): Try =>
  (call) =>
    allowed(call('POST', '/messages', body))

/** Tries to list a message to `ana`, as the user who got it. */
const listsMessage =
  (body: object): Try =>
  async (call, world) => {
    const message = { ...body, receiver: 'ana' }
    const { id } = (await world.app.as('ben').call('POST', '/v3/messages', { body: message })).body
      .data
    return lists(call('GET', '/users/ben/messages?limit=100&perPage=100'), 'id', id)
  }

const changes =
  (method: string, body?: object): Try =>
  async (call, world) => {
    const guid = await groupOf(world)
    const id = await sent(world, text(guid, 'group'))
    return allowed(call(method, `/messages/${id}`, body))
  }

const edit = { data: { text: 'Changed' } }
const newGroup = (type: string) => ({
  ...{ guid: newId(), name: 'New', type, ...(type === 'password' && { password: 'x' }) },
})
const listsGroup =
  (type: string): Try =>
  async (call, world) => {
    const guid = await groupOf(world, 'participants', type)
    return lists(call('GET', '/groups?perPage=1000'), 'guid', guid)
  }
const joins =
  (type: string): Try =>
  async (call, world) => {
    const guid = newId()
    await world.given('POST', '/groups', {
      guid,
      name: guid,
      type,
      ...(type === 'password' && { password: 'x' }),
    })
    return allowed(call('POST', `/groups/${guid}/join`, { password: 'x' }))
  }
const listsBen: Try = (call) => lists(call('GET', '/users?perPage=1000'), 'uid', 'ben')
const readsBen: Try = (call) => allowed(call('GET', '/users/ben'))

/** Calls somebody, and hangs up. In a group, whether it rings `cleo`. */
const calls =
  (receiver: string, receiverType = 'user'): Try =>
  async (call) => {
    const answer = call('POST', '/calls', { receiver, receiverType, type: 'audio' })
    if (!(await allowed(answer))) return false
    const { sessionId, participants } = (await answer).body.data
    await call('POST', `/calls/${sessionId}/cancel`)
    const rung = participants.some(({ uid }: { uid: string }) => uid === 'cleo')
    return receiverType === 'user' || rung
  }
const CALLS_BEN: Question = { action: 'startCall', receiver: 'ben' }
const callCell = (value: unknown): Cell => ({
  ...{ value, try: calls('ben'), ask: CALLS_BEN, alone: false },
})

const LISTS_BEN: Question = { action: 'listUsers', receiver: 'ben' }
const READS_BEN: Question = { action: 'getUser', receiver: 'ben' }
const sending = ({ category, type }: { category: string; type: string }): Question => ({
  ...{ action: 'sendMessage', receiver: 'ben' },
  message: { category, type, ...(type === 'image' && { mimeTypes: ['image/png'] }) },
})
const listing = ({ category, type }: { category: string; type: string }): Question => ({
  ...{ action: 'listUserMessages', receiver: 'ben', message: { category, type } },
})
/** About messages of the group `team`. */
const inTeam = (action: string): Question => ({ action, guid: 'team' })
const CREATES: Question = { action: 'createGroup', groupType: 'public' }
/** A public group that nobody has joined. */
const JOINS: Question = { action: 'joinGroup', guid: 'open' }

const sendCell = (
  value: unknown,
  body: ReturnType<typeof text> | typeof image | typeof custom,
) => ({
  ...{ value, try: sends(body), ask: sending(body) },
})

const ROLE: Partial<Record<RolePermission, Cell>> = {
  listUsers: { value: 'deny', try: listsBen, ask: LISTS_BEN },
  'listUsers.mode': { value: 'friends', try: listsBen, ask: LISTS_BEN },
  'listUsers.allowedRoles': { value: ['ruled'], try: listsBen, ask: LISTS_BEN },
  'getUserDetails.mode': { value: 'friends', try: readsBen, ask: READS_BEN },
  'getUserDetails.allowedRoles': { value: ['ruled'], try: readsBen, ask: READS_BEN },
  sendMessage: sendCell('deny', text('ben')),
  'sendMessage.mode': sendCell('friends', text('ben')),
  'sendMessage.allowedReceiverTypes': sendCell(['group'], text('ben')),
  'sendMessage.allowedReceiverRoles': sendCell(['ruled'], text('ben')),
  'sendMessage.allowedMessageTypes': sendCell(['text'], image),
  'sendMessage.allowedMessageCategories': sendCell(['message'], custom),
  'sendMessage.allowedCustomTypes': sendCell(['vote'], custom),
  'sendMessage.allowedMimeTypes': sendCell(['image/jpeg'], image),
  editMessage: { value: 'deny', try: changes('PUT', edit), ask: inTeam('updateMessage') },
  'editMessage.denyForScopes': {
    ...{ value: ['participant'], try: changes('PUT', edit), ask: inTeam('updateMessage') },
  },
  deleteMessage: { value: 'deny', try: changes('DELETE'), ask: inTeam('deleteMessage') },
  'deleteMessage.denyForScopes': {
    ...{ value: ['participant'], try: changes('DELETE'), ask: inTeam('deleteMessage') },
  },
  initiateCall: callCell('deny'),
  'initiateCall.mode': callCell('friends'),
  'initiateCall.allowedReceiverRoles': callCell(['ruled']),
  createGroup: {
    value: 'deny',
    try: (call) => allowed(call('POST', '/groups', newGroup('public'))),
    ask: CREATES,
  },
  'createGroup.allowedGroupTypes': {
    value: ['private'],
    try: (call) => allowed(call('POST', '/groups', newGroup('public'))),
    ask: CREATES,
  },
  listGroups: { value: 'deny', try: listsGroup('public'), ask: inTeam('listGroups') },
  'listGroups.allowedGroupTypes': {
    ...{ value: ['private'], try: listsGroup('public'), ask: inTeam('listGroups') },
  },
  joinGroup: { value: 'deny', try: joins('public'), alone: false, ask: JOINS },
  'joinGroup.allowedGroupTypes': {
    ...{ value: ['password'], try: joins('public'), alone: false, ask: JOINS },
  },
  'listMessages.allowedMessageCategories': {
    ...{ value: ['message'], try: listsMessage(custom), ask: listing(custom) },
  },
  'listMessages.allowedMessageTypes': {
    ...{ value: ['text'], try: listsMessage(image), ask: listing(image) },
  },
}

const LISTS_REACTION: Question = { ...inTeam('listMessageReactions'), receiver: 'cleo' }
const LISTS_MEMBER: Question = { ...inTeam('listMembers'), receiver: 'cleo' }
const listsMember: Try = (call) => lists(call('GET', '/groups/team/members'), 'uid', 'cleo')

const callTeam = {
  try: calls('team', 'group'),
  ask: { ...inTeam('startCall'), receiver: 'cleo', message: { type: 'audio' } },
  alone: false,
}

/** In the group `team` of `cleo`, where `ana` is a participant. */
const SCOPE: Partial<Record<ScopePermission, Cell>> = {
  sendMessage: {
    ...{ value: 'deny', try: sends(text('team', 'group')), ask: inTeam('sendMessage') },
  },
  sendThreadedMessage: {
    value: 'deny',
    ask: inTeam('sendThreadReply'),
    alone: false,
    async try(call, { app }) {
      const body = text('team', 'group')
      const { id } = (await app.as('cleo').call('POST', '/v3/messages', { body })).body.data
      return allowed(call('POST', `/messages/${id}/thread`, { data: { text: 'Yes' } }))
    },
  },
  editMessage: {
    value: 'deny',
    ask: inTeam('updateMessage'),
    async try(call, world) {
      const { id } = (
        await world.app.as('ana').call('POST', '/v3/messages', { body: text('team', 'group') })
      ).body.data
      return allowed(call('PUT', `/messages/${id}`, edit))
    },
  },
  addReaction: {
    value: 'deny',
    ask: inTeam('addMessageReaction'),
    alone: false,
    async try(call, { app }) {
      const body = text('team', 'group')
      const { id } = (await app.as('cleo').call('POST', '/v3/messages', { body })).body.data
      return allowed(call('POST', `/messages/${id}/reactions/x`))
    },
  },
  listReactions: { value: 'deny', try: listsReaction, ask: LISTS_REACTION },
  'listReactions.allowedScopes': {
    ...{ value: ['participant'], try: listsReaction, ask: LISTS_REACTION },
  },
  listMembers: { value: 'deny', try: listsMember, ask: LISTS_MEMBER },
  'listMembers.allowedScopes': { value: ['participant'], try: listsMember, ask: LISTS_MEMBER },
  initiateCall: { ...callTeam, value: 'deny' },
  'initiateCall.allowedScopes': { ...callTeam, value: ['participant'] },
  'initiateCall.allowedType': { ...callTeam, value: ['video'] },
}

/** A reaction of `cleo`, who is an admin. */
async function listsReaction(call: Call, { app }: World): Promise<boolean> {
  const body = text('team', 'group')
  const { id } = (await app.as('cleo').call('POST', '/v3/messages', { body })).body.data
  await app.as('cleo').call('POST', `/v3/messages/${id}/reactions/x`)
  return lists(call('GET', `/messages/${id}/reactions`), 'uid', 'cleo')
}

const sets: [string, Partial<Record<string, Cell>>, string[], (name: string) => string][] = [
  ['permissions of roles', ROLE, Object.keys(rolePermissions), () => '/roles/ruled/permissions'],
  [
    'permissions of scopes',
    SCOPE,
    Object.keys(scopePermissions),
    () => '/groups/team/scopes/participant/permissions',
  ],
]

for (const [title, cells, names, pathOf] of sets) {
  suite(title, () => {
    test('each has a cell, or waits', () => {
      for (const name of names) {
        assert.equal(cells[name] !== undefined, WAITING[name] === undefined, name)
      }
    })

    for (const [name, cell] of Object.entries(cells)) {
      if (!cell) continue
      suite(name, () => {
        let world: World
        before(async () => {
          world = await newWorld()
          const body = { guid: 'team', name: 'Team' }
          await world.app.as('cleo').call('POST', '/v3/groups', { body })
          await world.given('POST', '/groups/team/members', { participants: ['ana'] })
          await world.given('POST', '/groups', { guid: 'open', name: 'Open', type: 'public' })
        })

        for (const how of HOW) {
          const alone = how !== 'key alone' || (cell.alone ?? true)
          test(`${how}${alone ? '' : ' (not possible)'}`, { skip: !alone }, async () => {
            const path = pathOf(name)
            await world.given('DELETE', `${path}/${name}`)
            const call = await callerOf(world, 'ana', how)
            assert.equal(await cell.try(call, world), true, 'without a rule')
            assert.equal(await explained(world, 'ana', cell.ask), true)
            const { body } = await world.given('PUT', path, { permissions: { [name]: cell.value } })
            assert.equal(body.data[name].success, true, JSON.stringify(body))
            assert.equal(await cell.try(call, world), how === 'key alone', 'with the rule')
            assert.equal(await explained(world, 'ana', cell.ask), false)
          })
        }
      })
    }
  })
}

type FrameCell = readonly [key: string, value: unknown, of: 'user' | 'scope']

/** Rules about sending that don't depend on what a message contains. */
const SENDS: { features: Feature[]; cells: FrameCell[] } = {
  features: ['createMessage'],
  cells: [
    ['sendMessage', 'deny', 'user'],
    ['sendMessage.mode', 'friends', 'user'],
    ['sendMessage.allowedReceiverTypes', ['group'], 'user'],
    ['sendMessage.allowedReceiverRoles', ['ruled'], 'user'],
    ['sendMessage', 'deny', 'scope'],
  ],
}

/** What can deny a frame of a device, or why nothing can. What devices receive has tests of its own. */
const FRAMES: Record<ClientFrameType, typeof SENDS | string> = {
  auth: 'tokens have no rules',
  ping: 'says nothing',
  'typing.start': SENDS,
  'typing.end': 'ends what typing.start began',
  'message.transient': SENDS,
  'call.signal': 'who is in a call may talk in it',
  'call.alive': 'Says nothing to others, and only a device in the call has a row to change.',
  'receipt.delivered': 'receipts have no feature and no permission',
  'receipt.read': 'receipts have no feature and no permission',
  'presence.subscribe': { features: ['listUsers'], cells: [['listUsers', 'deny', 'user']] },
}

suite('devices', () => {
  const connect = async (app: TestApp, uid: string) =>
    Device.connect(port(), app, await tokenOf(app, uid))

  const setRole = ({ given }: World, permissions: object) =>
    given('PUT', '/roles/ruled/permissions', { permissions })

  /** With the group `team` of `cleo`, where `ana` is a participant. */
  async function newTeam(): Promise<World> {
    const world = await newWorld()
    const body = { guid: 'team', name: 'Team' }
    await world.app.as('cleo').call('POST', '/v3/groups', { body })
    await world.given('POST', '/groups/team/members', { participants: ['ana'] })
    await world.given('POST', '/roles', { role: 'odd', name: 'Odd' })
    await world.given('PUT', '/roles/odd/permissions', {
      permissions: { 'listMessages.allowedMessageTypes': ['text'] },
    })
    return world
  }

  /**
   * The gateway has read the rules of all users that changed before: it reads them in turn, and then those of `dan`, who
   * gets another role.
   */
  async function rulesAreRead({ app, given }: World): Promise<void> {
    const dan = await connect(app, 'dan')
    await given('PUT', '/users/dan', { role: 'odd' })
    await dan.waitFor('session.reload')
    await dan.close()
  }

  /** Which kinds of messages a device got, after it was told of a last text. */
  async function received(world: World, device: Device, bodies: object[]): Promise<string[]> {
    const from = device.frames.length
    for (const body of bodies) await world.app.as('ben').call('POST', '/v3/messages', { body })
    await world.app.as('ben').sendText('ana', `last ${from}`)
    await device.waitFor('message.sent', ({ body }) => body.message.data.text === `last ${from}`)
    return device.frames
      .slice(from)
      .filter(({ type }) => type === 'message.sent')
      .map(({ body }) => `${body.message.category}/${body.message.type}`)
  }

  for (const [permission, value, hidden] of [
    ['listMessages.allowedMessageTypes', ['text'], 'message/image'],
    ['listMessages.allowedMessageCategories', ['message'], 'custom/poll'],
  ] as const) {
    test(`${permission}: live, while it changes, and after a resume`, async () => {
      const world = await newWorld()
      const { app } = world
      const device = await connect(app, 'ana')
      const bodies = [
        { ...image, receiver: 'ana' },
        { ...custom, receiver: 'ana' },
      ]
      assert.deepEqual(await received(world, device, bodies), [
        'message/image',
        'custom/poll',
        'message/text',
      ])
      const { position } = device
      await setRole(world, { [permission]: value })
      await device.waitFor('session.reload')
      const shown = ['message/image', 'custom/poll', 'message/text'].filter((one) => one !== hidden)
      assert.deepEqual(await received(world, device, bodies), shown)
      const again = await Device.connect(port(), app, await tokenOf(app, 'ana'), { position })
      await again.waitFor('message.sent')
      await again.settled()
      const kinds = again.frames
        .filter(({ type }) => type === 'message.sent')
        .map(({ body }) => `${body.message.category}/${body.message.type}`)
      assert.deepEqual(kinds, shown)
      // Ben's own devices are bound by ben's role.
      await world.given('DELETE', `/roles/ruled/permissions/${permission}`)
      await until(
        'another reload',
        () => device.frames.filter(({ type }) => type === 'session.reload').length >= 2,
      )
      assert.equal((await received(world, device, bodies)).length, 3)
      await Promise.all([device.close(), again.close()])
    })
  }

  test('a quoted message that is hidden makes the device read its lists again', async () => {
    const world = await newWorld()
    const { app } = world
    await setRole(world, { 'listMessages.allowedMessageTypes': ['text'] })
    const device = await connect(app, 'ana')
    const { id } = (
      await app.as('ben').call('POST', '/v3/messages', { body: { ...image, receiver: 'ana' } })
    ).body.data
    await app.as('ben').sendText('ana', 'Look', { quotedMessageId: id })
    await device.waitFor('session.reload')
    assert.ok(!JSON.stringify(device.frames).includes('a.example'))
    await device.close()
  })

  test('a blocked user whose profile is hidden makes the device read its lists again', async () => {
    const world = await newWorld()
    const { app, given } = world
    await given('PUT', '/users/ben', { statusMessage: 'at sea' })
    await setRole(world, { 'getUserDetails.mode': 'friends' })
    const device = await connect(app, 'ana')
    await given('POST', '/users/ana/blockedusers', { blockedUids: ['ben'] })
    await device.waitFor('session.reload')
    assert.ok(!JSON.stringify(device.frames).includes('at sea'))
    await given('DELETE', '/roles/ruled/permissions/getUserDetails.mode')
    await until(
      'another reload',
      () => device.frames.filter(({ type }) => type === 'session.reload').length >= 2,
    )
    await given('DELETE', '/users/ana/blockedusers', { blockedUids: ['ben'] })
    const { body } = await device.waitFor('user.unblocked')
    assert.equal(body.users.ben.statusMessage, 'at sea')
    await device.close()
  })

  for (const permission of ['listReactions', 'listReactions.allowedScopes']) {
    test(`${permission}: reactions of others`, async () => {
      const { app, given } = await newTeam()
      const { id } = (
        await app.as('cleo').call('POST', '/v3/messages', { body: text('team', 'group') })
      ).body.data
      const device = await connect(app, 'ana')
      const react = (uid: string, reaction: string) =>
        app.as(uid).call('POST', `/v3/messages/${id}/reactions/${reaction}`)
      await react('cleo', 'one')
      await device.waitFor('message.reaction.added')
      const value = permission === 'listReactions' ? 'deny' : ['participant']
      await given('PUT', '/groups/team/scopes/participant/permissions', {
        permissions: { [permission]: value },
      })
      await device.waitFor('session.reload')
      await react('cleo', 'two')
      await react('ana', 'three')
      await device.waitFor(
        'message.reaction.added',
        ({ body }) => body.reaction.reaction === 'three',
      )
      const seen = device.frames.filter(({ type }) => type === 'message.reaction.added')
      assert.deepEqual(
        seen.map(({ body }) => body.reaction.reaction),
        ['one', 'three'],
      )
      await device.close()
    })
  }

  /** The frames of a device after `act`, which ends with a text to `ana`. */
  async function framesAfter({ app }: World, device: Device, act: () => Promise<unknown>) {
    const from = device.frames.length
    await act()
    const last = newId()
    await app.as('ben').sendText('ana', last)
    await device.waitFor('message.sent', ({ body }) => body.message.data.text === last)
    return device.frames.slice(from)
  }

  const sendImage = async ({ app }: World, more: object = {}): Promise<string> =>
    (
      await app
        .as('ben')
        .call('POST', '/v3/messages', { body: { ...image, receiver: 'ana', ...more } })
    ).body.data.id

  test('reactions to a hidden message, and its interactions, are hidden', async () => {
    const world = await newWorld()
    const { app } = world
    const [photo, note] = [await sendImage(world), (await app.as('ben').sendText('ana', 'Hi')).id]
    const open = { actionType: 'urlNavigation', url: 'https://a.example' }
    const yes = { elementType: 'button', elementId: 'yes', buttonText: 'Yes', action: open }
    const body = {
      ...{ receiver: 'ben', receiverType: 'user', category: 'interactive', type: 'card' },
      data: { interactiveData: { text: 'Come?', cardActions: [yes] } },
    }
    const card = (await app.as('ana').call('POST', '/v3/messages', { body })).body.data.id
    await setRole(world, {
      'listMessages.allowedMessageTypes': ['text'],
      'listMessages.allowedMessageCategories': ['message'],
    })
    const device = await connect(app, 'ana')
    const frames = await framesAfter(world, device, async () => {
      for (const id of [photo, note]) {
        await app.as('ben').call('POST', `/v3/messages/${id}/reactions/x`)
        await app.as('ben').call('DELETE', `/v3/messages/${id}/reactions/x`)
      }
      const path = `/v3/messages/${card}/interacted`
      const used = await app.as('ben').call('PATCH', path, { body: { interactions: ['yes'] } })
      assert.equal(used.status, 200, JSON.stringify(used.body))
    })
    assert.deepEqual(
      frames.flatMap(({ type, body }) =>
        type.startsWith('message.reaction') || type === 'message.interacted'
          ? [[type, body.reaction?.messageId]]
          : [],
      ),
      [
        ['message.reaction.added', note],
        ['message.reaction.removed', note],
      ],
    )
    await device.close()
  })

  for (const [what, act] of [
    ['edited', (id) => ['PUT', `/v3/messages/${id}`, { data: { text: 'Changed' } }]],
    ['pinned', (id) => ['POST', `/v3/messages/${id}/pin`]],
  ] as [string, (id: string) => [method: string, path: string, body?: object]][]) {
    test(`a message that is ${what} doesn't show a hidden reply`, async () => {
      const world = await newWorld()
      const { app } = world
      const { id } = await app.as('ben').sendText('ana', 'Hello')
      await sendImage(world, { parentMessageId: id })
      await setRole(world, { 'listMessages.allowedMessageTypes': ['text'] })
      const device = await connect(app, 'ana')
      const [method, path, body] = act(id)
      const frames = await framesAfter(world, device, async () =>
        app.as('ben').call(method, path, body ? { body } : {}),
      )
      assert.ok(!JSON.stringify(frames).includes('a.example'))
      assert.ok(frames.some(({ type }) => type === 'session.reload'))
      await device.close()
    })
  }

  for (const permission of ['listMembers', 'listMembers.allowedScopes']) {
    test(`${permission}: receipts of members`, async () => {
      const world = await newTeam()
      const { app, given } = world
      const device = await connect(app, 'ana')
      await given('PUT', '/groups/team/scopes/participant/permissions', {
        permissions: { [permission]: permission === 'listMembers' ? 'deny' : ['participant'] },
      })
      await device.waitFor('session.reload')
      const owner = await connect(app, 'cleo')
      const frames = await framesAfter(world, device, async () => {
        for (const by of ['ana', 'cleo']) {
          await app.as(by).sendText('team', by, { receiverType: 'group' })
        }
        await app.as('cleo').call('POST', '/v3/groups/team/conversation/read')
        await app.as('ana').call('POST', '/v3/groups/team/conversation/read')
        // Receipts of a second are sent together.
        await until('the receipt of ana', () =>
          owner.frames.some((frame) => JSON.stringify(frame).includes('"conversation.read"')),
        )
      })
      const shown = JSON.stringify(frames.filter(({ type }) => type === 'conversation.receipts'))
      assert.ok(!shown.includes('"uid":"cleo"'), shown)
      await Promise.all([device.close(), owner.close()])
    })
  }

  test('who hands over a group is bound by the permissions of scopes', async () => {
    const world = await newTeam()
    const { app, given } = world
    await given('PUT', '/groups/team/scopes/admin/permissions', {
      permissions: { listReactions: 'deny' },
    })
    const device = await connect(app, 'cleo')
    const { id } = await app.as('cleo').sendText('team', 'Hello', { receiverType: 'group' })
    const react = (reaction: string) =>
      app.as('ana').call('POST', `/v3/messages/${id}/reactions/${reaction}`)
    await react('before')
    await device.waitFor('message.reaction.added')
    await app.as('cleo').call('PUT', '/v3/groups/team/owner', { body: { owner: 'ana' } })
    await device.waitFor('group.owner.transferred')
    await rulesAreRead(world)
    await react('after')
    await app.as('ana').sendText('cleo', 'last')
    await device.waitFor('message.sent', ({ body }) => body.message.data.text === 'last')
    const shown = device.frames.filter(({ type }) => type === 'message.reaction.added')
    assert.deepEqual(
      shown.map(({ body }) => body.reaction.reaction),
      ['before'],
    )
    await device.close()
  })

  test('every frame has cells, or says why not', () => {
    assert.deepEqual(Object.keys(FRAMES).sort(), Object.keys(clientFrames).sort())
  })

  for (const frame of Object.keys(FRAMES) as ClientFrameType[]) {
    const rules = FRAMES[frame]
    if (typeof rules === 'string') continue
    const roleRules = rules.features.map((key) => [key, 'restricted', 'user'] as const)
    for (const [key, value, to] of [...roleRules, ...rules.cells]) {
      test(`${frame}: ${key}${to === 'scope' ? ' of a scope' : ''}`, async () => {
        const world = await newTeam()
        const { app, given } = world
        const device = await connect(app, 'ana')
        const receiver = to === 'scope' ? ['group', 'team'] : ['user', 'ben']
        const body = {
          'presence.subscribe': { users: 'all' },
          'message.transient': { receiverType: receiver[0], receiver: receiver[1], data: {} },
        }[frame as string] ?? { receiverType: receiver[0], receiver: receiver[1] }
        const answer = async () => {
          const id = newId()
          device.send(frame, body, id)
          return until('an answer', () => device.frames.find((one) => one.id === id))
        }
        assert.equal((await answer()).type, 'session.ok')
        if (value === 'restricted') {
          await given('POST', '/roles/ruled/restrictedfeatures', { featuresToRestrict: [key] })
        } else if (to === 'scope') {
          await given('PUT', '/groups/team/scopes/participant/permissions', {
            permissions: { [key]: value },
          })
        } else await setRole(world, { [key]: value })
        await rulesAreRead(world)
        const refused = await answer()
        const code = value === 'restricted' ? 'ERR_FEATURE_RESTRICTED' : 'ERR_PERMISSION_DENIED'
        assert.deepEqual([refused.type, refused.body.code], ['session.error', code])
        await device.close()
      })
    }
  }

  test('listUsers.mode: presence', async () => {
    const world = await newWorld()
    await setRole(world, { 'listUsers.mode': 'friends' })
    await world.given('POST', '/users/ana/friends', { accepted: ['ben'] })
    const device = await connect(world.app, 'ana')
    device.send('presence.subscribe', { users: 'all' }, 'one')
    await device.waitFor('session.ok', ({ id }) => id === 'one')
    const others = [await connect(world.app, 'dan'), await connect(world.app, 'ben')]
    await device.waitFor('presence.changed', ({ body }) => body.users[0].uid === 'ben')
    assert.ok(!JSON.stringify(device.frames).includes('"dan"'))
    await Promise.all([device, ...others].map((one) => one.close()))
  })

  test('listUsers: presence', async () => {
    const world = await newWorld()
    const device = await connect(world.app, 'ana')
    device.send('presence.subscribe', { users: 'all' }, 'one')
    await device.waitFor('session.ok', ({ id }) => id === 'one')
    const ben = await connect(world.app, 'ben')
    await device.waitFor('presence.changed', ({ body }) =>
      body.users.some(({ uid }: { uid: string }) => uid === 'ben'),
    )
    await setRole(world, { 'listUsers.allowedRoles': ['ruled'] })
    await until('the new filter', async () => {
      const id = newId()
      device.send('presence.subscribe', { users: 'all' }, id)
      await device.waitFor('session.ok', (frame) => frame.id === id)
      return true
    })
    const from = device.frames.length
    await world.given('POST', '/users', { uid: 'rosa', name: 'Rosa', role: 'ruled' })
    const [dan, rosa] = [await connect(world.app, 'dan'), await connect(world.app, 'rosa')]
    await device.waitFor('presence.changed', ({ body }) =>
      body.users.some(({ uid }: { uid: string }) => uid === 'rosa'),
    )
    const seen = device.frames
      .slice(from)
      .filter(({ type }) => type === 'presence.changed')
      .flatMap(({ body }) => body.users.map(({ uid }: { uid: string }) => uid))
    assert.ok(!seen.includes('dan'), seen.join())
    await setRole(world, { listUsers: 'deny' })
    await until('refused', async () => {
      const id = newId()
      device.send('presence.subscribe', { users: 'all' }, id)
      return (
        (await until('an answer', () => device.frames.find((frame) => frame.id === id))).type ===
        'session.error'
      )
    })
    await Promise.all([device, ben, dan, rosa].map((one) => one.close()))
  })
})
