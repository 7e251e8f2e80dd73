/** What a user with a token may do: every operation on the user's own resources, on other members' and on strangers'. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { ErrorCode } from '@loquat/protocol'
import { type Operation, operations } from './conformity.ts'
import { type Answer, refused, type TestApp, useServer } from './kit.ts'
import { maskIds } from './mask-ids.ts'
import {
  type Ids,
  prepare,
  resourceOf,
  resources,
  type Sample,
  send,
  type ValidRequest,
} from './resources.ts'
import { rowsOf } from './rows.ts'

const server = useServer()

/** Operations for the app only. */
const OF_THE_APP =
  /^(api_keys|erasures|permissions|restricted_features|roles|auth_tokens|bots|events|webhooks|stats|moderation_rules|notification_settings|notification_logs|notifications|push_providers|sms_providers|email_providers|suppressions|keyword_lists|moderation_checks|model_providers|agents|external_agents|agent_revisions|api_tools|frontend_actions|mcp_servers|agent_tools|agent_variables|agent_budgets|agent_replays|agent_figures|knowledge|flag_reasons|blocked_messages|flagged_messages|checked_messages|rule_previews|imports|exports|sanctions|review_items)$/

/** Some samples use fields for the app only. These are the bodies that a user may send instead. */
const REDUCED: Record<string, Sample> = {
  updateUser: { body: { name: 'Amira K.', statusMessage: 'Away', unset: ['avatar'] } },
  resetUserConversation: { body: {} },
  // Devices name no auth token: theirs is in the header.
  registerPushToken: { body: { platform: 'fcm_web', fcmToken: 'f-own' } },
  listPushTokens: { query: {} },
  unregisterSessionPushTokens: { query: {}, body: {} },
  unregisterPushToken: { body: {} },
}

/** Operations that members may not use on other members' messages or groups, with the code. */
const REFUSED: Record<string, ErrorCode> = {
  updateMessage: 'ERR_MESSAGE_NOT_A_SENDER',
  deleteMessage: 'ERR_MESSAGE_NOT_A_SENDER',
  updateGroup: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  deleteGroup: 'ERR_GROUP_NO_ADMIN_SCOPE',
  joinGroup: 'ERR_ALREADY_JOINED',
  transferGroup: 'ERR_GROUP_NO_CLEARANCE',
  addMembers: 'ERR_GROUP_NO_ADMIN_SCOPE',
  changeMemberScope: 'ERR_GROUP_NO_SCOPE_CLEARANCE',
  kickMember: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  banUser: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  unbanUser: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  listBannedUsers: 'ERR_GROUP_NO_MODERATOR_SCOPE',
}

const make = (name: string, app: TestApp, ids: Ids = {}) => {
  const resource = resources[name]
  if (!resource) throw new Error(`test/resources has no ${name}`)
  return resource.make(app, ids)
}

/** Sends requests as a user's device does: without an API key and without onBehalfOf. */
async function deviceOf(app: TestApp, uid: string) {
  const headers = { authtoken: await make('authToken', app, { uid }) }
  return (request: ValidRequest): Promise<Answer> => {
    const { onBehalfOf: _, ...ids } = request.ids
    return send(app, { ...request, ids }, { apiKey: null, headers })
  }
}

/** The user who owns the resources of a prepared request. */
function ownerOf(app: TestApp, { operation: { users }, ids, query }: ValidRequest) {
  if (users === 'self') return ids.uid ?? query?.uid ?? ''
  if (ids.pushToken) return ids.pushToken.slice('of-'.length, ids.pushToken.lastIndexOf('_'))
  return ids.onBehalfOf ?? make(ids.guid === undefined ? 'uid' : 'groups.onBehalfOf', app, ids)
}

/** Another user of the conversation: the receiver of the message, or a member of the group. */
async function otherOf(app: TestApp, { ids }: ValidRequest): Promise<string> {
  if (ids.id !== undefined) {
    return (await app.call('GET', `/v3/messages/${ids.id}`)).body.data.receiver
  }
  const uid = await make('uid', app)
  const body = { participants: [uid] }
  if (ids.guid) await app.call('POST', `/v3/groups/${ids.guid}/members`, { body })
  return uid
}

/** Ids that a stranger may not learn anything about. */
async function nothing(app: TestApp, operation: Operation, { ids }: ValidRequest): Promise<Ids> {
  if (ids.id !== undefined) return { id: resourceOf(operation, 'id').unknown() }
  if (ids.guid !== undefined) return { guid: resourceOf(operation, 'guid').unknown() }
  if (operation.users === 'self') return { uid: resourceOf(operation, 'uid').unknown() }
  // Users may know each other, but not each other's conversations.
  return ids.uid === undefined ? {} : { uid: await make('uid', app) }
}

test('users may call exactly the operations that are not for the app only', () => {
  const closed = operations.filter(({ users }) => !users)
  const [ofTheApp, more] = [[] as string[], [] as string[]]
  for (const { operationId, tags } of closed) {
    ;(tags.some((tag) => OF_THE_APP.test(tag)) ? ofTheApp : more).push(operationId)
  }
  assert.ok(
    !operations.some(({ tags, users }) => users && tags.some((tag) => OF_THE_APP.test(tag))),
  )
  assert.ok(ofTheApp.length > 20)
  assert.deepEqual(more.sort(), [
    ...['addCallTranscription', 'answerAgentHandover'],
    ...['createUser', 'deactivateUsers', 'deleteConversation', 'deleteUser', 'getConversation'],
    ...['getPinnedConversations', 'importGroups', 'importMembers', 'importMessages', 'importUsers'],
    ...['listCallServers', 'reactivateUsers', 'setPinnedConversations', 'takeAgentHandover'],
    'updateContactDetails',
  ])
})

for (const operation of operations) {
  const { operationId, users } = operation
  suite(operationId, () => {
    let app: TestApp
    before(async () => {
      app = await server.newApp()
    })

    if (!users) {
      test('is refused to users', async () => {
        const request = await prepare(app, operation)
        const uid = request.ids.onBehalfOf ?? (await make('uid', app))
        const authtoken = await make('authToken', app, { uid })
        const rows = await rowsOf(app)
        // Even together with an API key: the weaker credential decides.
        for (const apiKey of [null, app.apiKey]) {
          const { status, body } = await send(app, request, { apiKey, headers: { authtoken } })
          assert.equal(status, 403, JSON.stringify(body))
          assert.equal(body.error.code, 'AUTH_ERR_NO_ACCESS')
        }
        assert.deepEqual(await rowsOf(app), rows)
      })
      return
    }

    test("succeeds on a user's own resources", async () => {
      const request = await prepare(app, operation)
      const sendOwn = await deviceOf(app, await ownerOf(app, request))
      const reduced = REDUCED[operationId]
      if (reduced) {
        await refused(sendOwn(request), 'AUTH_ERR_NO_ACCESS')
      }
      const { status, body } = await sendOwn({ ...request, ...reduced })
      assert.equal(status, 200, JSON.stringify(body))
    })

    const { path } = operation
    if (path.includes('/messages/{id}') || path.includes('/groups/{guid}')) {
      test(`${REFUSED[operationId] ? `returns ${REFUSED[operationId]}` : 'succeeds'} on other members' resources`, async () => {
        const request = await prepare(app, operation)
        const sendToo = await deviceOf(app, await otherOf(app, request))
        const { status, body } = await sendToo(request)
        assert.equal(body.error?.code, REFUSED[operationId], JSON.stringify(body))
        assert.equal(status === 200, REFUSED[operationId] === undefined)
      })
    }

    // Users see each other, so they can flag each other too.
    if (path.includes('{') && !['getUser', 'flagUser'].includes(operationId)) {
      test("treats strangers' resources as if they didn't exist", async () => {
        const request = { ...(await prepare(app, operation)), ...REDUCED[operationId] }
        const { guid } = request.ids
        if (guid) await app.call('PUT', `/v3/groups/${guid}`, { body: { type: 'private' } })
        const sendStrange = await deviceOf(app, await make('uid', app))
        const none = await nothing(app, operation, request)
        const rows = await rowsOf(app)
        const answer = await sendStrange(request)
        const asNothing = await sendStrange({ ...request, ids: { ...request.ids, ...none } })
        const named = Object.keys(none).map((name) => [name, request.ids[name] ?? ''])
        assert.deepEqual(maskIds(answer, Object.fromEntries(named)), maskIds(asNothing, none))
        const { status, body } = answer
        assert.ok(status >= 400 || body.data.length === 0, JSON.stringify(body))
        assert.deepEqual(await rowsOf(app), rows)
      })
    }
  })
}
