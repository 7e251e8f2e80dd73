import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Typings } from './typing.ts'

function heard() {
  const told: string[] = []
  const typing = { tell: () => void told.push('start'), end: () => void told.push('end') }
  return { told, typing }
}

test('typing that goes on is told every other round, and ends by itself', () => {
  const { told, typing } = heard()
  const typings = new Typings()
  typings.start('user:ben', typing)
  typings.start('user:ben', typing)
  assert.deepEqual(told, ['start'])
  typings.round()
  typings.round()
  typings.start('user:ben', typing)
  assert.deepEqual(told, ['start', 'start'])
  for (let n = 0; n < 6; n++) typings.round()
  assert.deepEqual(told, ['start', 'start', 'end'])
})

test('whoever starts and ends in turn is told as rarely', () => {
  const { told, typing } = heard()
  const typings = new Typings()
  for (let n = 0; n < 100; n++) {
    typings.start('group:team', typing)
    typings.end('group:team')
  }
  assert.deepEqual(told, ['start', 'end'])
  typings.start('group:team', typing)
  typings.round()
  assert.deepEqual(told, ['start', 'end'], 'not yet')
  typings.round()
  assert.deepEqual(told, ['start', 'end', 'start'], 'what was kept back is told later')
  typings.endAll()
  assert.deepEqual(told, ['start', 'end', 'start', 'end'])
})
