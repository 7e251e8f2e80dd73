import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { type Answer, type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()

const ACTORS = ['app', 'owner', 'admin', 'moderator', 'participant', 'stranger', 'banned'] as const
const TARGETS = [
  'owner',
  'admin',
  'moderator',
  'participant',
  'stranger',
  'banned',
  'self',
] as const
type Who = (typeof ACTORS)[number]

const CODES: Record<string, string> = {
  joined: 'ERR_ALREADY_JOINED',
  notIn: 'ERR_NOT_A_MEMBER',
  same: 'ERR_SAME_SCOPE',
  high: 'ERR_GROUP_NO_CLEARANCE',
  admin: 'ERR_GROUP_NO_ADMIN_SCOPE',
  mod: 'ERR_GROUP_NO_MODERATOR_SCOPE',
  scope: 'ERR_GROUP_NO_SCOPE_CLEARANCE',
  self: 'ERR_GROUP_NO_SELF_ACTION',
  out: 'ERR_GROUP_NOT_JOINED',
  ban: 'ERR_BANNED_GROUPMEMBER',
  twice: 'ERR_ALREADY_BANNED',
  free: 'ERR_NOT_A_BANNED_USER',
  none: 'ERR_BAD_REQUEST',
  sender: 'ERR_MESSAGE_NOT_A_SENDER',
  unseen: 'ERR_MESSAGE_NO_ACCESS',
  view: 'ERR_CONVERSATION_NOT_ACCESSIBLE',
}

/**
 * The outcome of each action by each actor, in a public group by default. The columns of the second
 * table are the targets. `-` marks cases that don't exist: the app isn't a target, the owner is the
 * same as self, and users outside the group have no message to delete (`unsay`).
 */
const ALONE = `
              app   owner  admin  moderator participant stranger banned
  update      ok    ok     ok     ok        mod         out      ban
  delete      ok    ok     ok     admin     admin       out      ban
  join        none  joined joined joined    joined      ok       ban
  leave       none  high   ok     ok        ok          out      ban
  read        ok    ok     ok     ok        ok          ok       ban
  readPrivate ok    ok     ok     ok        ok          out      ban
  send        ok    ok     ok     ok        ok          out      ban
  history     ok    ok     ok     ok        ok          out      ban
  mark        none  ok     ok     ok        ok          view     view
`

const ON_OTHERS = `
  add         owner  admin  moderator participant stranger banned self
  app         joined joined joined    joined      ok       ban    -
  owner       -      joined joined    joined      ok       ban    joined
  admin       joined joined joined    joined      ok       ban    joined
  moderator   admin  admin  admin     admin       admin    admin  admin
  participant admin  admin  admin     admin       admin    admin  admin
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  kick        owner  admin  moderator participant stranger banned self
  app         high   ok     ok        ok          notIn    notIn  -
  owner       -      ok     ok        ok          notIn    notIn  self
  admin       high   high   ok        ok          notIn    notIn  self
  moderator   high   high   high      ok          notIn    notIn  self
  participant mod    mod    mod       mod         mod      mod    self
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  ban         owner  admin  moderator participant stranger banned self
  app         high   ok     ok        ok          ok       twice  -
  owner       -      ok     ok        ok          ok       twice  self
  admin       high   high   ok        ok          ok       twice  self
  moderator   high   high   high      ok          ok       twice  self
  participant mod    mod    mod       mod         mod      mod    self
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  unban       owner  admin  moderator participant stranger banned self
  app         free   free   free      free        free     ok     -
  owner       -      free   free      free        free     ok     free
  admin       free   free   free      free        free     ok     free
  moderator   free   free   free      free        free     ok     free
  participant mod    mod    mod       mod         mod      mod    mod
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  toAdmin     owner  admin  moderator participant stranger banned self
  app         high   same   ok        ok          notIn    notIn  -
  owner       -      same   ok        ok          notIn    notIn  self
  admin       high   scope  ok        ok          notIn    notIn  self
  moderator   high   scope  scope     scope       notIn    notIn  self
  participant scope  scope  scope     scope       scope    scope  self
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  toModerator owner  admin  moderator participant stranger banned self
  app         high   ok     same      ok          notIn    notIn  -
  owner       -      ok     same      ok          notIn    notIn  self
  admin       high   scope  same      ok          notIn    notIn  self
  moderator   high   scope  scope     ok          notIn    notIn  self
  participant scope  scope  scope     scope       scope    scope  self
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  toParticipant owner  admin  moderator participant stranger banned self
  app         high   ok     ok        same        notIn    notIn  -
  owner       -      ok     ok        same        notIn    notIn  self
  admin       high   scope  ok        same        notIn    notIn  self
  moderator   high   scope  scope     scope       notIn    notIn  self
  participant scope  scope  scope     scope       scope    scope  self
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  transfer    owner  admin  moderator participant stranger banned self
  app         none   none   none      none        none     none   -
  owner       -      ok     ok        ok          ok       ban    self
  admin       high   high   high      high        high     high   high
  moderator   high   high   high      high        high     high   high
  participant high   high   high      high        high     high   high
  stranger    out    out    out       out         out      out    out
  banned      ban    ban    ban       ban         ban      ban    ban

  unsay       owner  admin  moderator participant stranger banned self
  app         ok     ok     ok        ok          -        -      -
  owner       -      ok     ok        ok          -        -      ok
  admin       ok     ok     ok        ok          -        -      ok
  moderator   ok     ok     ok        ok          -        -      ok
  participant sender sender sender    sender      -        -      ok
  stranger    unseen unseen unseen    unseen      -        -      -
  banned      unseen unseen unseen    unseen      -        -      -
`

interface Case {
  action: string
  actor: Who
  target: (typeof TARGETS)[number] | undefined
  expected: string
}

const rows = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/))

function cases(): Case[] {
  const alone = rows(ALONE)
    .slice(1)
    .flatMap(([action = '', ...cells]) =>
      ACTORS.map((actor, n) => ({ action, actor, target: undefined, expected: cells[n] ?? '' })),
    )
  const onOthers = ON_OTHERS.split(/\n\s*\n/).flatMap((table) => {
    const [[action = ''] = [], ...lines] = rows(table)
    return lines.flatMap(([actor, ...cells]) =>
      TARGETS.map((target, n) => ({
        action,
        actor: actor as Who,
        target,
        expected: cells[n] ?? '',
      })),
    )
  })
  return [...alone, ...onOthers].filter(({ expected }) => expected !== '-')
}

const HARMLESS = ['read', 'readPrivate', 'send', 'history', 'mark', 'unsay']

/** The actor and the target are different users even if both have the same scope. */
const OTHERS = { admins: 'admin', moderators: 'moderator', participants: 'participant' } as const

class Ground {
  readonly #app: TestApp
  #made = 0

  constructor(app: TestApp) {
    this.#app = app
  }

  async makeUsers() {
    await this.#app.users(...ACTORS.slice(1).flatMap((uid) => [uid, `${uid}-2`]))
  }

  async newGroup(type: 'public' | 'private'): Promise<string> {
    const guid = `group-${++this.#made}`
    const lists = Object.entries(OTHERS).map(([list, who]) => [list, [who, `${who}-2`]])
    const members = { ...Object.fromEntries(lists), usersToBan: ['banned', 'banned-2'] }
    const body = { guid, name: 'Group', type, owner: 'owner', members }
    await this.#app.client.groups.create(body)
    return guid
  }

  async act({ action, actor, target }: Case, guid: string): Promise<string> {
    const uid = target === 'self' ? actor : target === 'owner' ? 'owner' : `${target}-2`
    const by = actor === 'app' ? this.#app : this.#app.as(actor)
    const call = (method: string, path: string, body?: object) =>
      by.call(method, `/v3/groups/${guid}${path}`, { ...(body && { body }) })
    const unsay = async () => {
      const { id } = await this.#app.as(uid).sendText(guid, 'Hello', { receiverType: 'group' })
      return by.call('DELETE', `/v3/messages/${id}`)
    }
    const scopeTo = (scope: string) => call('PUT', `/members/${uid}`, { scope })
    const actions: Record<string, () => Promise<Answer>> = {
      update: () => call('PUT', '', { name: 'Renamed' }),
      delete: () => call('DELETE', ''),
      join: () => call('POST', '/join'),
      leave: () => call('POST', '/leave'),
      read: () => call('GET', ''),
      readPrivate: () => call('GET', ''),
      add: () => call('POST', '/members', { participants: [uid] }),
      kick: () => call('DELETE', `/members/${uid}`),
      ban: () => call('POST', `/bannedusers/${uid}`),
      unban: () => call('DELETE', `/bannedusers/${uid}`),
      toAdmin: () => scopeTo('admin'),
      toModerator: () => scopeTo('moderator'),
      toParticipant: () => scopeTo('participant'),
      transfer: () => call('PUT', '/owner', { owner: uid }),
      send: () =>
        by.call('POST', '/v3/messages', {
          body: { receiver: guid, receiverType: 'group', data: { text: 'Hello' } },
        }),
      history: () => call('GET', '/messages'),
      mark: () => call('POST', '/conversation/read'),
      unsay,
    }
    const answer = await actions[action]?.()
    const ofOne = answer?.body.data?.participants?.[uid]
    return (answer?.body.error ?? ofOne?.error)?.code ?? 'ok'
  }
}

suite('what users may do in a group', () => {
  const byAction = Map.groupBy(cases(), ({ action }) => action)
  let ground: Ground
  before(async () => {
    ground = new Ground(await server.newApp())
    await ground.makeUsers()
  })

  test('has a case for every action, actor and target', () => {
    const onOthers = 8 * (ACTORS.length * TARGETS.length - 2)
    assert.equal(cases().length, 9 * ACTORS.length + onOthers + 31)
  })

  for (const [action, own] of byAction) {
    test(`${action}: ${own.length} cases`, async () => {
      const type = action === 'readPrivate' ? 'private' : 'public'
      const wrong: object[] = []
      let guid = await ground.newGroup(type)
      for (const one of own) {
        const given = await ground.act(one, guid)
        const expected = one.expected === 'ok' ? 'ok' : CODES[one.expected]
        if (given !== expected) wrong.push({ ...one, given })
        // A successful action has changed the group.
        if (given === 'ok' && !HARMLESS.includes(action)) guid = await ground.newGroup(type)
      }
      assert.deepEqual(wrong, [])
    })
  }
})
