import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Accessed, Acting } from '../../core/policy.ts'
import { refusePin, refuseUnpin } from '../pins/policy.ts'
import { refuseSave } from '../saves/policy.ts'
import { refuseFollow } from '../threads/policy.ts'
import { refuseDelete, refuseEdit, refuseInteraction } from './policy.ts'

type Message = Accessed & { data: Record<string, unknown>; parent_id: number | null }

const TEXT: Message = {
  id: 1,
  kind: 'group',
  one: 'g',
  sender: 'sender',
  category: 'message',
  type: 'text',
  deleted_at: null,
  takes_part: true,
  scope: 'participant',
  scope_rules: null,
  data: {},
  parent_id: null,
}

/** Who acts on a message that `sender` has sent to a group, with the access that was read for them. */
const ACTORS: Record<string, [Acting, Partial<Message>]> = {
  app: [{ kind: 'app' }, { takes_part: false, scope: null }],
  sender: [{ kind: 'user', uid: 'sender' }, {}],
  admin: [{ kind: 'user', uid: 'admin' }, { scope: 'admin' }],
  moderator: [{ kind: 'user', uid: 'moderator' }, { scope: 'moderator' }],
  participant: [{ kind: 'user', uid: 'participant' }, {}],
  peer: [
    { kind: 'user', uid: 'peer' },
    { kind: 'user', scope: null },
  ],
  stranger: [
    { kind: 'user', uid: 'stranger' },
    { takes_part: false, scope: null },
  ],
}

const MESSAGES: Record<string, Partial<Message>> = {
  text: {},
  image: { type: 'image' },
  custom: { category: 'custom', type: 'poll' },
  card: { category: 'interactive', type: 'form' },
  action: { category: 'action', type: 'groupMember' },
  reply: { parent_id: 7 },
  deleted: { deleted_at: new Date(0) },
}

const RULES: Record<string, (acting: Acting, message: Message) => { code: string } | undefined> = {
  edit: refuseEdit,
  delete: (acting, message) => refuseDelete(acting, message, false),
  purge: (acting, message) => refuseDelete(acting, message, true),
  use: refuseInteraction,
  pin: refusePin,
  unpin: refuseUnpin,
  save: (_acting, message) => refuseSave(message),
  follow: refuseFollow,
}

const CODES: Record<string, string | undefined> = {
  ok: undefined,
  not: 'ERR_MESSAGE_ACTION_NOT_ALLOWED',
  other: 'ERR_MESSAGE_NOT_A_SENDER',
  out: 'ERR_MESSAGE_NO_ACCESS',
  role: 'ERR_PERMISSION_DENIED',
  wrong: 'ERR_WRONG_MESSAGE_THREAD_CATEGORY',
  nested: 'ERR_MESSAGE_THREAD_NESTING',
}

/** Each row is a rule and a message, each column an actor. `peer` is the other side of a 1:1 conversation. */
const TABLE = `
                  app    sender admin  moderator participant peer   stranger
  edit text       ok     ok     ok     ok        other       other  out
  edit image      ok     not    not    not       other       other  out
  edit custom     ok     ok     ok     ok        other       other  out
  edit card       ok     not    not    not       other       other  out
  edit action     not    not    not    not       other       other  out
  edit deleted    not    not    not    not       other       other  out
  delete text     ok     ok     ok     ok        other       other  out
  delete image    ok     ok     ok     ok        other       other  out
  delete action   not    not    not    not       other       other  out
  delete deleted  not    not    not    not       other       other  out
  purge deleted   ok     ok     ok     ok        other       other  out
  use card        ok     not    ok     ok        ok          ok     out
  use text        not    not    not    not       not         not    out
  use deleted     not    not    not    not       not         not    out
  pin text        ok     role   ok     ok        role        ok     out
  pin action      not    role   not    not       role        not    out
  pin deleted     not    role   not    not       role        not    out
  unpin text      ok     role   ok     ok        role        ok     out
  unpin deleted   ok     role   ok     ok        role        ok     out
  save text       ok     ok     ok     ok        ok          ok     ok
  save action     not    not    not    not       not         not    not
  save deleted    not    not    not    not       not         not    not
  follow text     ok     ok     ok     ok        ok          ok     out
  follow reply    nested nested nested nested    nested      nested out
  follow action   wrong  wrong  wrong  wrong     wrong       wrong  out
`

const [columns = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))

suite('who may do what with a message', () => {
  for (const [rule = '', kind = '', ...expected] of rows) {
    test(`${rule} ${kind}`, () => {
      const codes = columns.map((name) => {
        const [acting, access] = ACTORS[name] as [Acting, Partial<Message>]
        return RULES[rule]?.(acting, { ...TEXT, ...access, ...MESSAGES[kind] })?.code
      })
      assert.deepEqual(
        codes,
        expected.map((word) => CODES[word]),
      )
    })
  }

  test('a sender uses a card that allows it', () => {
    const card: Message = {
      ...TEXT,
      category: 'interactive',
      data: { allowSenderInteraction: true },
    }
    assert.equal(refuseInteraction({ kind: 'user', uid: 'sender' }, card), undefined)
  })

  test('the app edits on behalf of a user what the user could not edit with a token', () => {
    const image: Message = { ...TEXT, type: 'image' }
    assert.equal(refuseEdit({ kind: 'appOnBehalf', uid: 'sender' }, image), undefined)
  })
})
