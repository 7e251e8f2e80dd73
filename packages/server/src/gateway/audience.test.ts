/** Produces every type of event and checks that devices of other users receive none of them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { audienceOf, type EventType, events } from '@loquat/protocol'
import { Device, type Frame, send, tokenOf } from '../../test/device.ts'
import { actorOf, DISAPPROVED, PENDING, sendJudged } from '../../test/held.ts'
import { type TestApp, useServer } from '../../test/kit.ts'
import { until } from '../../test/until.ts'
import { updateMessage } from '../areas/messages/edit.actions.ts'
import { settleEdit } from '../areas/moderation/edits.actions.ts'
import { findHeldEdit } from '../areas/moderation/edits.queries.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const port = () => server.service.gatewayPort ?? 0
const PEOPLE = ['amira', 'ben', 'stranger', 'banned', 'blocker', 'off', 'revoked', 'extra', 'ruled']

const as = (onbehalfof: string) => ({ headers: { onbehalfof } })

/** Produces an event of each type that devices receive, between amira and ben and in their group. */
async function makeHistory(app: TestApp): Promise<void> {
  const ok = async (method: string, path: string, options: object = {}) => {
    const answer = await app.call(method, `/v3${path}`, options)
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const secret = { metadata: { shown: 1, '@private': { email: 'hidden@example.com' } } }
  await ok('PUT', '/users/amira', { body: { ...secret, tags: ['vip'] } })
  await ok('POST', '/users/amira/friends', { body: { accepted: ['ben'] } })
  await ok('DELETE', '/users/amira/friends', { body: { friends: ['ben'] } })
  const token = await tokenOf(app, 'amira')
  await ok('PUT', `/users/amira/auth_tokens/${token}`, { body: { platform: 'ios' } })
  await ok('DELETE', `/users/amira/auth_tokens/${token}`)
  for (const kind of ['user', 'group'] as const) {
    const receiver = kind === 'user' ? 'ben' : 'team'
    const path = kind === 'user' ? '/users/ben/conversation' : '/groups/team/conversation'
    const theirs = kind === 'user' ? '/users/amira/conversation' : '/groups/team/conversation'
    const first = (await send(app, 'amira', receiver, 'first', kind)).body.data.id
    const { id } = (await send(app, 'amira', receiver, 'hi <@uid:ben>', kind)).body.data
    await ok('POST', `/messages/${id}/thread/subscription`, as('ben'))
    await ok('POST', `/messages/${id}/reactions/x`, as('ben'))
    await ok('DELETE', `/messages/${id}/reactions/x`, as('ben'))
    await ok('POST', `/messages/${id}/pin`, as('amira'))
    await ok('DELETE', `/messages/${id}/pin`, as('amira'))
    await ok('POST', `/messages/${id}/save`, as('ben'))
    await ok('DELETE', `/messages/${id}/save`, as('ben'))
    await ok('POST', `${theirs}/delivered`, as('ben'))
    await ok('POST', `${theirs}/read`, as('ben'))
    await ok('DELETE', `${theirs}/read`, { ...as('ben'), body: { messageId: first } })
    await ok('PUT', path, { ...as('amira'), body: { tags: ['x'] } })
    await ok('POST', `${path}/pin`, as('amira'))
    await ok('PUT', `/messages/${id}`, { ...as('amira'), body: { data: { text: 'edited' } } })
    await ok('DELETE', `/messages/${id}`, as('amira'))
    await ok('DELETE', `/messages/${first}`, { body: { permanent: true } })
    const interactive = await ok('POST', '/messages', {
      ...as('amira'),
      body: {
        ...{ receiver, receiverType: kind, category: 'interactive', type: 'form' },
        data: {
          interactiveData: {
            ...{ title: 'T', formFields: [], submitElement: button },
          },
        },
      },
    })
    const used = { ...as('ben'), body: { interactions: ['ok'] } }
    await ok('PATCH', `/messages/${interactive.id}/interacted`, used)
  }
  await makeCalls(app, ok)
  await makeReceiptsOfAll(app)
  for (const receiver of ['ben', 'team']) {
    const receiverType = receiver === 'ben' ? 'user' : 'group'
    const more = { receiverType }
    const { id } = await sendJudged(server, app, ['amira', receiver], DISAPPROVED, more)
    const approve = () =>
      ok('PATCH', `/moderation/blocked-messages/${id}`, { body: { status: 'approved' } })
    await approve()
    const edit = { data: { text: 'edited' } }
    await updateMessage(server.deps, actorOf(app, 'amira'), id, edit, PENDING)
    const { edit_no } = await findHeldEdit.one(app.cell.db, { appNo: app.no, id })
    await settleEdit(app, id, String(edit_no), DISAPPROVED)
    await ok('POST', `/messages/${id}/flagged`, { ...as('ben'), body: { reasonId: 'spam' } })
    const hidden = { body: { status: 'disapproved' } }
    await ok('PATCH', `/moderation/flagged-messages/${id}`, hidden)
    await approve()
  }
  await ok('DELETE', '/users/ben/conversation', {
    ...as('amira'),
    body: { deleteMessagesPermanently: true },
  })
  const members = '/groups/team/members'
  await ok('POST', members, { body: { participants: ['extra'] } })
  await ok('PUT', `${members}/extra`, { body: { scope: 'moderator' } })
  await ok('DELETE', `${members}/extra`)
  await ok('POST', '/groups/team/join', as('extra'))
  await ok('POST', '/groups/team/leave', as('extra'))
  await ok('POST', '/groups/team/bannedusers/extra')
  await ok('DELETE', '/groups/team/bannedusers/extra')
  const flag = { ...as('ben'), body: { reasonId: 'spam' } }
  await ok('POST', '/users/amira/flagged', flag)
  await ok('POST', '/groups/team/flagged', flag)
  const [item] = await ok('GET', '/moderation/queue?kind=user')
  await ok('POST', `/moderation/queue/${item.id}/decision`, { body: { decision: 'approve' } })
  const mute = { uid: 'amira', kind: 'mute', reason: 'Spam' }
  const sanction = await ok('POST', '/moderation/sanctions', { body: mute })
  await ok('DELETE', `/moderation/sanctions/${sanction.id}`)
  const { uid: agentUid } = await app.client.agents.create({ name: 'Helper' })
  const opened = await ok('POST', '/ai-agents/handovers', { ...as('amira'), body: { agentUid } })
  await ok('POST', `/ai-agents/handovers/${opened.id}/take`)
  await ok('POST', `/ai-agents/handovers/${opened.id}/close`)
  await ok('PUT', '/groups/team', { body: { name: 'Team 2' } })
  await ok('PUT', '/groups/team/owner', { ...as('amira'), body: { owner: 'ben' } })
  await ok('PUT', '/conversations/pinned', { body: { pinnedConversations: [{ guid: 'team' }] } })
  // Blocks apply to 1:1 conversations and to receipts: `blocker` sent messages to amira and to the group before.
  await ok('POST', '/users/blocker/conversation/read', as('amira'))
  await ok('POST', '/groups/team/conversation/read', as('amira'))
  await ok('POST', '/users/amira/blockedusers', { body: { blockedUids: ['extra'] } })
  await ok('DELETE', '/users/amira/blockedusers', { body: { blockedUids: ['extra'] } })
  await ok('DELETE', '/groups/team')
}

/** Calls of amira with ben and in the group, with every end. */
async function makeCalls(
  app: TestApp,
  ok: (method: string, path: string, options?: object) => Promise<{ sessionId: string }>,
): Promise<void> {
  const start = async (receiver: string, mode = 'call') => {
    const receiverType = receiver === 'ben' ? 'user' : 'group'
    const body = { receiver, receiverType, type: 'audio', mode }
    return (await ok('POST', '/calls', { ...as('amira'), body })).sessionId
  }
  const act = (id: string, uid: string, what: string, body = {}) =>
    ok('POST', `/calls/${id}/${what}`, { ...as(uid), body })
  for (const receiver of ['ben', 'team']) {
    const answered = await start(receiver)
    await act(answered, 'ben', 'join')
    await act(answered, 'ben', 'leave')
    if (receiver === 'team') await act(answered, 'amira', 'leave')
    const meeting = await start(receiver, 'meet')
    await act(meeting, 'amira', 'leave')
    const unanswered = await start(receiver)
    if (receiver === 'team') await act(unanswered, 'ben', 'reject')
    await act(unanswered, 'amira', 'cancel')
  }
  await act(await start('ben'), 'ben', 'reject')
  await act(await start('ben'), 'ben', 'reject', { status: 'busy' })
  await start('team')
  const text = `update calls set initiated_at = initiated_at - interval '1 minute' where app_no = $1`
  await app.cell.db.query({ name: '', text, values: [app.no] })
  await act(await start('team'), 'amira', 'cancel')
}

/** These events need a webhook. It is disabled, so nothing is called. */
async function makeReceiptsOfAll(app: TestApp): Promise<void> {
  const { webhooks, groups } = app.client
  const webhookURL = 'https://8.8.8.8/hook'
  await webhooks.create({ id: 'a', name: 'A', webhookURL, enabled: false })
  const triggerIds = ['message_delivered_to_all', 'message_read_by_all']
  await webhooks.addTriggers('a', { triggerIds })
  const members = { participants: ['ben'] }
  await groups.create({ guid: 'pair', name: 'Pair', type: 'private', owner: 'amira', members })
  await send(app, 'amira', 'pair', 'hi', 'group')
  await app.as('ben').conversations.markGroupRead('pair', {})
  await app.waitFor('conversation.delivered.to.all')
  await app.waitFor('conversation.read.by.all')
}

const button = {
  elementType: 'button',
  elementId: 'ok',
  buttonText: 'OK',
  action: { actionType: 'urlNavigation', url: 'https://example.com' },
}

/** The types of events that devices receive. */
function deliveredTypes(): Set<string> {
  const internal = Object.keys(events).filter((type) => {
    try {
      return audienceOf(type as EventType, {}) === undefined
    } catch {
      return false
    }
  })
  return new Set(Object.keys(events).filter((type) => !internal.includes(type)))
}

async function newApps() {
  const app = await server.newApp()
  await app.users(...PEOPLE)
  const other = await server.newApp()
  await other.users('amira', 'ben', 'stranger')
  for (const one of [app, other]) {
    const group = { guid: 'team', name: 'Team', type: 'public' as const, owner: 'amira' }
    await one.client.groups.create({ ...group, members: { participants: ['ben'] } })
  }
  const participants = ['banned', 'blocker', 'off', 'revoked', 'ruled']
  await app.call('POST', '/v3/groups/team/members', { body: { participants } })
  await app.client.roles.create({ role: 'readers', name: 'Readers' })
  await app.client.permissions.updateRole('readers', {
    permissions: { 'listMessages.allowedMessageCategories': ['message'] },
  })
  await app.client.users.update('ruled', { role: 'readers' })
  await app.client.permissions.updateScope('team', 'participant', {
    permissions: { 'listReactions.allowedScopes': ['admin'] },
  })
  await send(app, 'blocker', 'amira', 'before')
  await send(app, 'blocker', 'team', 'before', 'group')
  await app.call('POST', '/v3/users/blocker/blockedusers', { body: { blockedUids: ['amira'] } })
  return { app, other }
}

suite('audiences', () => {
  test('no device receives events that are not for its user', async () => {
    const { app, other } = await newApps()
    const connect = async (uid: string, to = app) =>
      Device.connect(port(), to, await tokenOf(to, uid))
    const devices = {
      ...{ amira: await connect('amira'), ben: await connect('ben') },
      ...{ stranger: await connect('stranger'), banned: await connect('banned') },
      ...{ blocker: await connect('blocker'), off: await connect('off') },
      ...{ revoked: await connect('revoked'), ruled: await connect('ruled') },
      ...{ namesake: await connect('ben', other), foreigner: await connect('stranger', other) },
    }
    const { amira, ben, stranger, banned, blocker, off, revoked, namesake, foreigner } = devices
    const { ruled } = devices
    await app.call('POST', '/v3/groups/team/bannedusers/banned')
    await app.call('DELETE', '/v3/users', { body: { uidsToDeactivate: ['off'] } })
    await app.call('DELETE', '/v3/users/revoked/auth_tokens')
    assert.equal((await off.closed).code, 4401)
    assert.equal((await revoked.closed).code, 4401)
    await banned.waitFor('group.member.banned')
    await stranger.settled()
    const started = { banned: banned.frames.length, blocker: blocker.frames.length }
    const startedRuled = ruled.frames.length
    const gone = { off: off.frames.length, revoked: revoked.frames.length }

    await makeHistory(app)
    await amira.waitFor('group.deleted')
    const log = await app.client.events.list({ limit: 1000 })
    const missing = deliveredTypes().difference(new Set(log.data.map(({ type }) => type)))
    assert.deepEqual([...missing], [], 'no event of these types was produced')

    const received = (device: Device, from = 0) =>
      device.frames.slice(from).filter(({ type }) => type !== 'pong' && !type.startsWith('session'))
    const types = (device: Device, from = 0) => received(device, from).map(({ type }) => type)
    for (const device of [stranger, banned, blocker, namesake, foreigner]) await device.settled()
    assert.deepEqual(types(stranger), ['app.conversations.pinned'])
    assert.deepEqual(received(stranger)[0]?.body, {})
    assert.deepEqual(types(banned, started.banned), ['app.conversations.pinned'])
    assert.deepEqual(types(namesake), [])
    assert.deepEqual(types(foreigner), [])
    assert.equal(off.frames.length, gone.off)
    assert.equal(revoked.frames.length, gone.revoked)
    // A member receives the group's events, but nothing that amira did in 1:1 conversations, nor her receipts.
    for (const { type, body } of received(blocker, started.blocker)) {
      const { receiverType } = body.message ?? body
      assert.ok(receiverType !== 'user', type)
      const uids = (body.receipts ?? []).map((receipt: Frame) => receipt.body.uid)
      assert.ok(!uids.includes('amira') && body.uid !== 'amira', type)
    }
    // Rules hide messages of other categories and reactions from a member. What shows a part of them is read again.
    await ruled.settled()
    const seenByRuled = received(ruled, startedRuled)
    assert.ok(seenByRuled.length > 5)
    for (const { type, body } of seenByRuled) {
      const { message } = body
      // Calls ring whatever lists show.
      if (type.startsWith('call.') || type.startsWith('meeting.')) continue
      const about = message?.data.entities?.on?.entity ?? message
      // Of a message that was deleted permanently, only ids are left.
      const category = type === 'message.deleted' ? undefined : 'message'
      assert.ok(
        !about || ['message', category].includes(about.category),
        JSON.stringify({ type, about }),
      )
      assert.ok(!type.startsWith('message.reaction'), type)
    }
    assert.ok(ruled.frames.slice(startedRuled).some(({ type }) => type === 'session.reload'))
    const deletedForRuled = seenByRuled.filter(({ type }) => type === 'message.deleted')
    assert.ok(deletedForRuled.some(({ body }) => !body.message.data.entities.on.entity.category))
    const everything = Object.values(devices).flatMap(({ frames }) => frames)
    assert.ok(!JSON.stringify(everything).includes('hidden@example.com'))
    const ofAll = (device: Device) =>
      types(device)
        .filter((type) => type.endsWith('.all'))
        .sort()
    const both = ['conversation.delivered.to.all', 'conversation.read.by.all']
    assert.deepEqual([ofAll(amira), ofAll(ben)], [both, []])
    assert.ok(amira.events().length > 40 && ben.events().length > 30)
    await until('amira receives her own update', () =>
      amira.frames.some(({ type, body }) => type === 'user.updated' && body.user.metadata.shown),
    )
    for (const device of Object.values(devices)) await device.close()
  })
})
