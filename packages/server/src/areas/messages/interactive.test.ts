import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b', 'out')
  return app
}

const say = (app: TestApp, type: string | undefined, data: object, category = 'interactive') =>
  app.as('a').call('POST', '/v3/messages', {
    body: { receiver: 'b', receiverType: 'user', category, ...(type && { type }), data },
  })

const yes = {
  elementType: 'button',
  elementId: 'yes',
  buttonText: 'Yes',
  disableAfterInteracted: true,
  action: { actionType: 'apiAction', url: 'https://x.example', method: 'POST', payload: {} },
}
const name = { elementType: 'textInput', elementId: 'name', label: 'Name', maxLines: 2 }
const form = { title: 'Survey', formFields: [name], submitElement: yes }
const card = { text: 'Come?', imageUrl: 'https://x.example/i.png', cardActions: [yes] }
const scheduler = {
  title: 'Meet',
  avatarUrl: 'https://x.example/a.png',
  bufferTime: 15,
  icsFileUrl: 'https://x.example/a.ics',
  availability: { monday: { from: '0900', to: '1700' }, friday: [{ from: '0900', to: '1200' }] },
  timezoneCode: 'Europe/Vienna',
  duration: 30,
  scheduleElement: yes,
  goalCompletionText: 'Done',
  dateRangeStart: '2026-01-01',
  dateRangeEnd: '2026-02-01',
}

suite('sendMessage with interactive data', () => {
  const good: [string | undefined, object][] = [
    [undefined, { interactiveData: card }],
    ['card', { interactiveData: { text: 'Only text' } }],
    ['form', { interactiveData: form, interactionGoal: { type: 'anyOf', elementIds: ['yes'] } }],
    ['scheduler', { interactiveData: scheduler, interactionGoal: { type: 'anyAction' } }],
    ['customInteractive', { interactiveData: { any: [1] }, allowSenderInteraction: true }],
  ]
  const action = { ...yes, action: { actionType: 'eval' } }
  const hours = { monday: { from: '9' }, friday: [{ from: '0900', to: '2500' }] }
  /** Each with its invalid fields, below `data`. */
  const bad: [string, object, ...string[]][] = [
    ['form', { interactiveData: { title: 'No fields' } }, '.formFields', '.submitElement'],
    [
      'form',
      { interactiveData: { ...form, formFields: [{ elementType: 'slider' }] } },
      ...['.formFields[0].elementId', '.formFields[0].elementType'],
    ],
    [
      'form',
      { interactiveData: { ...form, submitElement: { elementType: 'button' } } },
      '.submitElement.elementId',
    ],
    ['card', { interactiveData: { text: 5 } }, '.text'],
    ['card', { interactiveData: { cardActions: [action] } }, '.cardActions[0].action.actionType'],
    [
      'card',
      { interactiveData: card, interactionGoal: { type: 'anyAction' } },
      'interactionGoal.type',
    ],
    [
      'card',
      { interactiveData: card, interactionGoal: { type: 'oneOf', elementIds: [1] } },
      'interactionGoal.elementIds[0]',
    ],
    ['card', { interactiveData: card, allowSenderInteraction: 'yes' }, 'allowSenderInteraction'],
    ['scheduler', { interactiveData: { ...scheduler, duration: undefined } }, '.duration'],
    ['scheduler', { interactiveData: {} }, ...Object.keys(scheduler).map((key) => `.${key}`)],
    [
      'scheduler',
      { interactiveData: { ...scheduler, availability: hours } },
      ...['.availability.monday.to', '.availability.monday.from', '.availability.friday[0].to'],
    ],
    ['customInteractive', { interactiveData: 'x' }, ''],
    ['customInteractive', {}, ''],
  ]
  test('accepts complete elements and names the faulty fields of others', async () => {
    const app = await newApp()
    for (const [type, data] of good) {
      const { status, body } = await say(app, type, data)
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(body.data.type, type ?? 'card')
    }
    for (const [type, data, ...fields] of bad) {
      const { body } = await say(app, type, data)
      assert.equal(body.error?.code, 'ERR_INVALID_MESSAGE_DATA', JSON.stringify(data))
      const named = fields.map((field) =>
        field === '' || field.startsWith('.') ? `data.interactiveData${field}` : `data.${field}`,
      )
      assert.deepEqual(Object.keys(body.error.details), named)
    }
    const { body } = await say(app, 'card', { interactiveData: { text: 5 } })
    const field = 'data.interactiveData.text'
    assert.deepEqual(body.error.details, { [field]: [`${field} must be a string`] })
    const many = { cardActions: Array.from({ length: 500 }, () => ({})) }
    const first = await say(app, 'card', { interactiveData: many })
    assert.equal(Object.keys(first.body.error.details).length, 20)
  })
})

suite('markInteractions', () => {
  const mark = (app: TestApp, uid: string, id: string, ...interactions: string[]) =>
    app.as(uid).interactions.mark(id, { interactions })

  test('sends one event per element, and deleting the message removes the interactions', async () => {
    const app = await newApp()
    const data = { interactiveData: form, interactionGoal: { type: 'none', elementIds: ['own'] } }
    const { id } = (await say(app, 'form', data)).body.data
    await mark(app, 'b', id, 'name', 'name', 'own')
    await mark(app, 'b', id, 'name')
    await mark(app, 'b', id, 'name', 'yes')
    const events = (await app.eventTypes()).filter((type) => type === 'message.interacted')
    assert.equal(events.length, 2)
    const rows = async () =>
      (
        await app.cell.db.query<{ element_id: string }>({
          ...{ name: '', values: [app.no] },
          text: 'select element_id from interactions where app_no = $1 order by element_id',
        })
      ).rows.map(({ element_id }) => element_id)
    assert.deepEqual(await rows(), ['name', 'own', 'yes'])
    await app.client.messages.delete(id)
    assert.deepEqual(await rows(), [])
  })

  test('finds elements at any depth', async () => {
    const app = await newApp()
    let nested: unknown = { elementId: 'deep' }
    for (let depth = 0; depth < 80; depth++) nested = [nested]
    const { id } = (await say(app, 'customInteractive', { interactiveData: { nested } })).body.data
    await mark(app, 'b', id, 'deep')
    await refused(mark(app, 'b', id, 'deeper'), 'ERR_BAD_REQUEST')
  })

  test('refuses users outside, the sender and unknown elements', async () => {
    const app = await newApp()
    const { id } = (await say(app, 'card', { interactiveData: card })).body.data
    const own = { interactiveData: card, allowSenderInteraction: true }
    const open = (await say(app, 'card', own)).body.data
    const text = (await say(app, 'text', { text: 'Hi' }, 'message')).body.data
    await refused(mark(app, 'a', id, 'yes'), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    await mark(app, 'a', open.id, 'yes')
    await refused(mark(app, 'b', id, 'no'), 'ERR_BAD_REQUEST')
    await refused(mark(app, 'b', text.id, 'yes'), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    await refused(mark(app, 'out', id, 'yes'), 'ERR_MESSAGE_NO_ACCESS')
    await refused(mark(app, 'b', '99999999', 'yes'), 'ERR_MESSAGE_ID_NOT_FOUND')
    await app.client.messages.delete(id)
    await refused(mark(app, 'b', id, 'yes'), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
  })
})
