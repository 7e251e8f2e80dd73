/**
 * Asks every operation for messages that moderation holds: nobody but their sender and moderators finds anything of them,
 * in an answer, a frame, an event or a webhook.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { audienceOf, type EventType, events } from '@loquat/protocol'
import { updateMessage } from '../src/areas/messages/edit.actions.ts'
import { type Operation, operations } from './conformity.ts'
import { Device, tokenOf } from './device.ts'
import { actorOf, DISAPPROVED, PENDING, sendJudged } from './held.ts'
import { type Answer, type TestApp, useServer } from './kit.ts'
import { maskIds } from './mask-ids.ts'
import { join, newOperator, type TestOperator } from './operators.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const SECRET = 'xylophone'
const TEXT = `the ${SECRET} at https://example.org/${SECRET} of <@uid:peer>`
const TAG = 'hushed'

let app: TestApp
/** A role that may read the app's data, but not moderate. */
let developer: TestOperator
let moderator: TestOperator
/** Devices of all others. */
const devices = new Map<string, Device>()
/** The ids of held messages, and of one that everyone sees. */
const held: string[] = []
let parent: string

async function prepare(): Promise<void> {
  app = await server.newApp()
  await app.users('sender', 'peer', 'admin', 'other')
  // No message is decided about while the test runs.
  await app.client.moderationChecks.updateSettings({ deadlineSeconds: 3_600 })
  const members = { participants: ['sender', 'peer'] }
  await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'admin', members })
  const port = server.service.gatewayPort ?? 0
  for (const uid of ['sender', 'peer', 'admin', 'other']) {
    devices.set(uid, await Device.connect(port, app, await tokenOf(app, uid)))
  }
  parent = (await app.as('peer').sendText('team', 'hello', { receiverType: 'group' })).id
  await app.as('peer').sendText('sender', 'hello')
  for (const verdict of [PENDING, DISAPPROVED]) {
    for (const more of [
      { receiver: 'peer' },
      { receiver: 'team', receiverType: 'group' },
      { receiver: 'team', receiverType: 'group', parentMessageId: parent },
    ]) {
      const message = { ...more, data: { text: TEXT }, tags: [TAG] }
      held.push((await sendJudged(server, app, ['sender', more.receiver], verdict, message)).id)
    }
  }
  // An edit that waits is shown to nobody.
  const shown = await app.as('sender').sendText('team', 'hello', { receiverType: 'group' })
  const edit = { data: { text: TEXT }, tags: [TAG] }
  await updateMessage(server.deps, actorOf(app, 'sender'), shown.id, edit, PENDING)
  developer = await newOperator(server)
  await join(server, app, developer, 'developer')
  moderator = await newOperator(server)
  await join(server, app, moderator, 'moderator')
}

/** The ids that a path can have. Operations on anything else don't show messages. */
const choices = (name: string): string[] =>
  ({
    uid: ['sender', 'peer'],
    guid: ['team'],
    id: [parent, ...held],
    messageId: held,
    conversationId: ['group_team', 'peer_user_sender'],
    role: ['default'],
    reaction: ['x'],
  })[name] ?? []

function pathsOf({ path }: Operation): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return names.reduce(
    (paths, name) =>
      paths.flatMap((one) => choices(name).map((value) => one.replace(`{${name}}`, value))),
    [path],
  )
}

/** Each filter that a list of messages knows, and none. */
function queriesOf({ parameters }: Operation): string[] {
  const given: Record<string, string> = {
    searchKey: SECRET,
    tags: TAG,
    hasLinks: 'true',
    hasMentions: 'true',
    mentionedUids: 'peer',
    senders: 'sender',
    types: 'text',
    unread: 'true',
    count: 'true',
    affix: 'prepend',
    onlyDeleted: 'true',
    'updatedAt[from]': '1',
  }
  const known = parameters.map(({ name }) => name).filter((name) => name in given)
  const first = parameters.some(({ name }) => name === 'fromDate')
    ? ['fromDate=1&toDate=2000000']
    : ['']
  return [...first, ...known.map((name) => `${encodeURIComponent(name)}=${given[name]}`)]
}

const leaks = (text: string) => text.includes(SECRET) || held.some((id) => text.includes(id))
/** The request itself names an id, so an error may repeat it. */
const shown = ({ status, body }: Answer) => (status === 200 ? JSON.stringify(body) : '')

const READS = operations.filter(({ method }) => method === 'GET')
const OTHERS = ['peer', 'admin', 'other']

suite('held messages', () => {
  before(prepare)

  suite('are in no answer', () => {
    for (const operation of READS) {
      test(operation.operationId, async () => {
        for (const path of pathsOf(operation)) {
          for (const query of queriesOf(operation)) {
            const url = `${path}${query && `?${query}`}`
            for (const uid of operation.onBehalfOf === 'ignored' ? [] : OTHERS) {
              assert.ok(!leaks(shown(await app.as(uid).call('GET', url))), `${uid} ${url}`)
            }
            if (operation.onBehalfOf === 'required') continue
            const answer = await developer.call('GET', `/apps/${app.id}${url}`)
            assert.ok(!leaks(shown(answer)), `developer ${url}`)
          }
        }
      })
    }

    test('but in those of its sender, the app and moderators', async () => {
      for (const id of held) {
        const url = `/v3/messages/${id}`
        for (const uid of ['sender', undefined]) {
          assert.ok(leaks(shown(await app.as(uid).call('GET', url))))
        }
        assert.ok(leaks(shown(await moderator.call('GET', `/apps/${app.id}${url}`))))
      }
      const blocked = await moderator.call('GET', `/apps/${app.id}/v3/moderation/blocked-messages`)
      assert.equal(blocked.body.data.length, 3)
    })
  })

  suite('accept no write', () => {
    const writes = operations.filter(
      ({ method, path, onBehalfOf }) =>
        method !== 'GET' && path.includes('{id}') && onBehalfOf !== 'ignored',
    )
    for (const operation of writes) {
      test(`${operation.operationId} are refused to others as for an unknown one`, async () => {
        const unknown = '100000000000001'
        const body = { data: { text: 'x' }, interactions: ['x'], reasonId: 'spam' }
        const sent = operation.body ? { body } : {}
        for (const path of pathsOf(operation)) {
          const id = held.find((one) => path.includes(one))
          if (!id) continue
          for (const uid of OTHERS) {
            const as = app.as(uid)
            const answer = await as.call(operation.method, path, sent)
            const same = await as.call(operation.method, path.replace(id, unknown), sent)
            assert.notEqual(answer.status, 200)
            assert.deepEqual(
              maskIds(answer, { id }),
              maskIds(same, { id: unknown }),
              `${uid} ${path}`,
            )
          }
        }
      })
    }
  })

  suite('are in no event', () => {
    test('for anyone but their sender', async () => {
      const told = (await app.events()).filter(({ payload }) => leaks(JSON.stringify(payload)))
      assert.ok(told.length >= held.length)
      for (const { type, payload } of told) {
        const audience = audienceOf(type as EventType, payload)
        if (audience) assert.deepEqual(audience, { users: ['sender'] }, type)
        const { trigger = 'moderation_' } = events[type as EventType] as { trigger?: string }
        assert.match(trigger, /^moderation_/, type)
      }
    })

    test('that a device of another user receives', async () => {
      const last = await app.as('other').sendText('peer', 'last')
      const isLast = ({ type, body }: { type: string; body: { message: { id: string } } }) =>
        type === 'message.sent' && body.message.id === last.id
      await devices.get('peer')?.waitFor('message.sent', isLast)
      for (const uid of OTHERS) {
        assert.ok(!leaks(JSON.stringify(devices.get(uid)?.frames)), uid)
      }
      assert.ok(leaks(JSON.stringify(devices.get('sender')?.frames)))
    })
  })
})
