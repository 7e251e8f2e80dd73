import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Addressed, type AllFacts, type Filter, matches } from './filters.ts'

const toGroup: Addressed = { sender: 'ana', kind: 'group', receiver: 'ward-3' }
const toUser: Addressed = { sender: 'ana', kind: 'user', receiver: 'ben' }
const facts: AllFacts = {
  sender: { name: 'Ana', role: 'nurse', type: null, tags: ['new', 'night'], createdAt: 100 },
  receiver: { name: 'Ward', role: null, type: 'public', tags: [], createdAt: 200 },
}

type Case = [text: string, message: Addressed, matches: boolean]

/** `side entity operand operator value,value` */
const CASES: Case[] = [
  ['sender user uid equals ana', toUser, true],
  ['sender user uid equals ben', toUser, false],
  ['sender user uid notEquals ben', toUser, true],
  ['sender user uid in ben,ana', toUser, true],
  ['sender user uid notIn ben,ana', toUser, false],
  ['sender user uid startsWith an', toUser, true],
  ['sender user name endsWith na', toUser, true],
  ['sender user name endsWith an', toUser, false],
  ['sender user role equals nurse', toUser, true],
  ['sender user tags equals night', toUser, true],
  ['sender user tags in day,new', toUser, true],
  ['sender user tags notIn day,new', toUser, false],
  ['sender user tags notEquals day', toUser, true],
  ['sender user createdAt lessThan 101', toUser, true],
  ['sender user createdAt lessThan 100', toUser, false],
  ['sender user createdAt greaterThan 99', toUser, true],
  ['receiver user uid equals ben', toUser, true],
  ['receiver group guid equals ward-3', toGroup, true],
  ['receiver group guid startsWith ward', toGroup, true],
  ['receiver group type equals public', toGroup, true],
  ['receiver group type notEquals public', toGroup, false],
  ['receiver group tags notEquals vip', toGroup, true],
  // A filter about one kind of receiver matches no message to the other kind, not even if it is negative.
  ['receiver user uid notEquals zoe', toGroup, false],
  ['receiver group guid notIn zoo', toUser, false],
]

suite('filters', () => {
  for (const [text, message, expected] of CASES) {
    test(`${text} ${expected ? 'matches' : "doesn't match"} a message to a ${message.kind}`, () => {
      const [type, entity, operand, operator, values = ''] = text.split(' ')
      const filter = { type, entity, operand, operator, value: values.split(',') } as Filter
      assert.equal(matches(filter, message, facts), expected)
    })
  }

  test('about somebody who is unknown match only negatively', () => {
    const filter: Omit<Filter, 'operator'> = {
      type: 'sender',
      entity: 'user',
      operand: 'role',
      value: ['nurse'],
    }
    const none = { sender: undefined, receiver: undefined }
    assert.equal(matches({ ...filter, operator: 'equals' }, toUser, none), false)
    assert.equal(matches({ ...filter, operator: 'notEquals' }, toUser, none), true)
  })
})
