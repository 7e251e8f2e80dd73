import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { batchText, fill, pushTexts, type ShownMessage } from './render.ts'
import { Templates } from './templates.ts'
import { defaultsOf, overlay } from './tree.ts'

const DEFAULTS = defaultsOf(Templates)
const PRIVATE = { ...DEFAULTS, usePrivacyTemplate: 2 as const }

const entities = {
  sender: { entity: { name: 'Amira' } },
  receiver: { entity: { name: 'Ward 3' } },
}

const message = (category: string, type: string, data: object = {}): ShownMessage => ({
  ...{ category, type, receiverType: 'user' },
  data: { entities, ...data },
})

suite('fill', () => {
  const root = {
    message: { data: { text: 'Hi', n: 0, on: false, none: null, list: ['a'], deep: { x: 'y' } } },
    to: { name: '' },
    messages: [1, 2, 3],
  }
  const cases: [template: string, text: string, complete: boolean][] = [
    ['no placeholder', 'no placeholder', true],
    ['{{message.data.text}}!', 'Hi!', true],
    ['{{ message.data.text }}', 'Hi', true],
    ['{{message.data.n}} {{message.data.on}}', '0 false', true],
    ['{{messages.length}}', '3', true],
    ['{{message.data.list.0}}', 'a', true],
    ['<{{message.data.nothing}}>', '<>', false],
    ['{{message.nowhere.at.all}}', '', false],
    ['{{message.data.none}}', '', false],
    ['{{to.name}}', '', false],
    ['an object: {{message.data.deep}}', 'an object: ', false],
    ['{{message.data.text}} {{x}}', 'Hi ', false],
    ['{{constructor.name}}', '', false],
    ['{{__proto__.toString}}', '', false],
    ['{{message.data.text.constructor}}', '', false],
    ['{{messages.__proto__.length}}', '', false],
    ['{{}} {{message.data.text} {{{message.data.text}}}', '{{}} {{message.data.text} {Hi}', true],
    ['{{message["data"]}}', '{{message["data"]}}', true],
  ]
  for (const [template, text, complete] of cases) {
    test(JSON.stringify(template), () => assert.deepEqual(fill(template, root), { text, complete }))
  }

  test("doesn't fill in what a value contains", () => {
    const name = '{{message.data.text}} $& $1 <b>&amp;</b>'
    const given = { message: { data: { text: 'secret' }, name } }
    assert.equal(fill('{{message.name}}', given).text, name)
  })

  test('takes time in proportion to the text', () => {
    const hostile = '{{'.repeat(200_000) + '{{a.'.repeat(100_000)
    assert.equal(fill(hostile, {}).complete, true)
  })
})

suite('pushTexts', () => {
  const cases: [string, ShownMessage, title: string, body: string, hidden?: string][] = [
    ['text', message('message', 'text', { text: 'See you' }), 'Amira', 'See you'],
    ['image', message('message', 'image', { text: 'caption' }), 'Amira', 'Image'],
    ['audio', message('message', 'audio'), 'Amira', 'Audio'],
    ['video', message('message', 'video'), 'Amira', 'Video'],
    ['file', message('message', 'file'), 'Amira', 'File'],
    ['custom', message('custom', 'poll', { text: 'Vote' }), 'Amira', 'Vote'],
    ['custom without text', message('custom', 'poll'), 'Amira', 'New message'],
    [
      'form',
      message('interactive', 'form', { interactiveData: { title: 'Sign' } }),
      'Amira',
      'Sign',
    ],
    [
      'card',
      message('interactive', 'card', { interactiveData: { text: 'Come?' } }),
      'Amira',
      'Come?',
    ],
    [
      'scheduler',
      message('interactive', 'scheduler', { interactiveData: { title: 'When?' } }),
      'Amira',
      'When?',
    ],
    ['other interactive', message('interactive', 'customInteractive'), 'Amira', 'New message'],
    ['unknown type', message('message', 'constructor', { text: 'x' }), 'Amira', 'x'],
  ]
  for (const [name, given, title, body] of cases) {
    test(name, () => {
      assert.deepEqual(pushTexts(DEFAULTS, given), { title, body })
      const inGroup = { ...given, receiverType: 'group' as const }
      assert.deepEqual(pushTexts(DEFAULTS, inGroup), { title: 'Amira @ Ward 3', body })
      assert.deepEqual(pushTexts(PRIVATE, given), { title, body: 'New message' })
    })
  }

  test('uses the texts of the app', () => {
    const own = overlay(Templates, DEFAULTS, {
      customMessageTemplateDefault: {
        body: 'Poll: {{message.data.customData.question}}',
        body_fallback: 'A poll of {{message.data.entities.sender.entity.name}}',
      },
    })
    const poll = message('custom', 'poll', { customData: { question: 'Tea?' } })
    assert.equal(pushTexts(own, poll).body, 'Poll: Tea?')
    assert.equal(pushTexts(own, message('custom', 'poll')).body, 'A poll of Amira')
  })

  test('cuts long texts between characters, and leaves HTML as it is', () => {
    const family = '👩‍👩‍👧'
    const { body } = pushTexts(DEFAULTS, message('message', 'text', { text: family.repeat(1_000) }))
    assert.ok(body.length <= 2_000 && body.endsWith(`${family}…`))
    const marks = `e${'\u0301'.repeat(10_000)}`
    assert.equal(
      pushTexts(DEFAULTS, message('message', 'text', { text: marks })).body.length,
      2_000,
    )
    // One character as people see it: each man is joined to the next one.
    const men = pushTexts(DEFAULTS, message('message', 'text', { text: '👨\u200d'.repeat(700) }))
    assert.ok(men.body.isWellFormed() && men.body.length > 1_990)
    const html = '<script>alert(1)</script> &amp;'
    assert.equal(pushTexts(DEFAULTS, message('message', 'text', { text: html })).body, html)
    const long = { sender: { entity: { name: 'n'.repeat(500) } } }
    const named = pushTexts(DEFAULTS, message('message', 'text', { text: 'x', entities: long }))
    assert.equal(named.title.length, 200)
  })
})

suite('batchText', () => {
  const batch = { to: { name: 'Ben' }, messages: [1, 2], senderDetails: { name: 'Amira' } }
  test('counts the messages of one conversation', () => {
    assert.equal(batchText(DEFAULTS, 'emailSubject', batch), 'You have 2 new messages from Amira')
    const group = { ...batch, groupDetails: { name: 'Ward 3' } }
    assert.equal(batchText(DEFAULTS, 'smsContent', group), 'You have 2 new messages in Ward 3')
    assert.equal(batchText(PRIVATE, 'smsContent', group), 'You have 2 new messages')
  })
})
