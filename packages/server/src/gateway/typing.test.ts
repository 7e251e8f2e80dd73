import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TypingIndicators } from './typing.ts'

function recorder() {
  const sent: string[] = []
  const typing = {
    notifyStart: () => void sent.push('start'),
    notifyEnd: () => void sent.push('end'),
  }
  return { sent, typing }
}

test('an indicator that is repeated is sent every other second and ends on its own', () => {
  const { sent, typing } = recorder()
  const indicators = new TypingIndicators()
  indicators.start('user:ben', typing)
  indicators.start('user:ben', typing)
  assert.deepEqual(sent, ['start'])
  indicators.tick()
  indicators.tick()
  indicators.start('user:ben', typing)
  assert.deepEqual(sent, ['start', 'start'])
  for (let n = 0; n < 6; n++) indicators.tick()
  assert.deepEqual(sent, ['start', 'start', 'end'])
})

test('a device that starts and ends in turn is held to the same rate', () => {
  const { sent, typing } = recorder()
  const indicators = new TypingIndicators()
  for (let n = 0; n < 100; n++) {
    indicators.start('group:team', typing)
    indicators.end('group:team')
  }
  assert.deepEqual(sent, ['start', 'end'])
  indicators.start('group:team', typing)
  indicators.tick()
  assert.deepEqual(sent, ['start', 'end'], 'still cooling down')
  indicators.tick()
  assert.deepEqual(sent, ['start', 'end', 'start'], 'the delayed start is sent later')
  indicators.endAll()
  assert.deepEqual(sent, ['start', 'end', 'start', 'end'])
})
