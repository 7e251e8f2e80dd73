/** What users write: texts, mentions, files and voice messages, and what becomes of them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { TestApp } from '../../server/test/kit.ts'
import { until } from '../../server/test/until.ts'
import { companyOf, say } from './data.ts'
import { field, message, newKit, openRoom, write } from './page.ts'

const kit = await newKit()

suite('a text', () => {
  test('that could not be sent is still there when the user comes back', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Are you there?')
    await say(app, 'cleo', 'amira', 'Hello')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Ben/)
    await message(amira, 'Are you there?').waitFor()
    const refusal = { error: { code: 'ERR_BAD_REQUEST', message: 'Not today.' } }
    await amira.route('**/v3/messages', (route) => route.fulfill({ status: 400, json: refusal }))
    await write(amira, 'Refused')
    await message(amira, 'Refused').locator('.lq-failed').waitFor()
    await openRoom(amira, /^Cleo/)
    await message(amira, 'Hello').waitFor()
    await openRoom(amira, /^Ben/)
    await message(amira, 'Refused').locator('.lq-failed', { hasText: 'Not today.' }).waitFor()
    await amira.unroute('**/v3/messages')
    await message(amira, 'Refused').getByRole('button', { name: 'Retry' }).click()
    await message(amira, 'Refused').locator('.lq-status', { hasText: 'Sent' }).waitFor()

    // A message that is on its way keeps its room open only until it is sent.
    await write(amira, 'The last one')
    await openRoom(amira, /^Cleo/)
    await until('only one room is open', () =>
      amira.evaluate('Object.keys(client.state.rooms).join() === "amira_user_cleo"'),
    )
    await amira.context().close()
  })

  test('is not sent by the key that accepts the suggestion of an input method', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Hello')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Ben/)
    await field(amira).fill('漢字')
    // As Safari does, after the composition has ended.
    await amira.evaluate(`document.querySelector('.lq-composer textarea').dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }),
    )`)
    assert.equal(await field(amira).inputValue(), '漢字')
    await field(amira).press('Enter')
    await message(amira, '漢字').locator('.lq-status', { hasText: 'Sent' }).waitFor()
    assert.equal(await amira.locator('.lq-message', { hasText: '漢字' }).count(), 1)
    await amira.context().close()
  })

  test('is kept while another room is open, also if the browser refuses to store it', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Hello')
    await say(app, 'cleo', 'amira', 'Hello')
    const amira = await kit.open(app, 'amira')
    await amira.evaluate(`for (const name of ['getItem', 'setItem', 'removeItem']) {
      Storage.prototype[name] = () => { throw new DOMException('blocked', 'SecurityError') }
    }`)
    await openRoom(amira, /^Ben/)
    await field(amira).fill('Not yet sent')
    await openRoom(amira, /^Cleo/)
    await until('the field is empty', async () => (await field(amira).inputValue()) === '')
    await openRoom(amira, /^Ben/)
    await until('the draft is back', async () => (await field(amira).inputValue()) !== '')
    await write(amira, 'Sent now')
    await message(amira, 'Sent now').locator('.lq-status', { hasText: 'Sent' }).waitFor()
    assert.equal(await field(amira).inputValue(), '')
    await amira.context().close()
  })
})

suite('mentions', () => {
  test('survive in a draft, and go to whole names of distinct users', async () => {
    const app = await companyOf(kit.server)
    for (const uid of ['ann', 'ann2']) await app.client.users.create({ uid, name: 'Ann' })
    await app.client.groupMembers.add('release', { participants: ['ann', 'ann2'] })
    await say(app, 'cleo', 'release', 'The screenshots are done.')
    await say(app, 'ben', 'amira', 'Hello')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Release/)
    for (const uid of ['ann', 'ann2']) {
      await field(amira).pressSequentially('@Ann')
      await amira.getByRole('option', { name: `Ann ${uid}`, exact: true }).click()
      // The caret is placed in the next frame.
      await amira.evaluate('new Promise((done) => requestAnimationFrame(() => done()))')
    }
    await field(amira).pressSequentially('@Annabel @佐')
    await amira.getByRole('option', { name: '佐藤 由紀' }).click()
    await field(amira).press('Backspace')
    await field(amira).pressSequentially('さん')
    const text = '@Ann @Ann (ann2) @Annabel @佐藤 由紀さん'
    assert.equal(await field(amira).inputValue(), text)

    await openRoom(amira, /^Ben/)
    await until('the field is empty', async () => (await field(amira).inputValue()) === '')
    await openRoom(amira, /^Release/)
    await until('the draft is back', async () => (await field(amira).inputValue()) === text)
    await field(amira).press('Enter')
    await message(amira, '@Annabel').locator('.lq-status', { hasText: 'Sent' }).waitFor()
    assert.equal(await lastText(app), '<@uid:ann> <@uid:ann2> @Annabel <@uid:yuki>さん')

    await field(amira).press('ArrowUp')
    await until('the text is there', async () => (await field(amira).inputValue()) === text)
    await write(amira, `${text}!`)
    await message(amira, 'さん!').locator('.lq-edited').waitFor()
    assert.equal(await lastText(app), '<@uid:ann> <@uid:ann2> @Annabel <@uid:yuki>さん!')
    await amira.context().close()
  })
})

/** The text of the newest message in the group. */
async function lastText(app: TestApp): Promise<unknown> {
  const query = { limit: 1, affix: 'prepend', category: 'message' } as const
  const { data } = await app.client.onBehalfOf('amira').messages.listGroup('release', query)
  return data[0]?.data.text
}

suite('a file', () => {
  test('quotes the message that the user has chosen', async () => {
    const app = await companyOf(kit.server)
    const quoted = await say(app, 'ben', 'amira', 'Do you have notes?')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Ben/)
    await message(amira, 'Do you have notes?').hover()
    await amira.getByRole('button', { name: 'Quote' }).click()
    const files = ['notes.txt', 'more.txt'].map((name) => ({
      ...{ name, mimeType: 'text/plain', buffer: Buffer.from(name) },
    }))
    await amira.locator('input[type=file]').setInputFiles(files)
    await write(amira, 'Here')
    for (const name of ['notes.txt', 'more.txt']) {
      await message(amira, name).locator('.lq-status', { hasText: 'Sent' }).waitFor()
    }
    const { data } = await app.client.onBehalfOf('amira').messages.listUser('ben', {})
    // The second file may be faster.
    const quotes = data.filter(({ quotedMessageId }) => quotedMessageId === quoted)
    assert.deepEqual([data.length, quotes.map((one) => one.data.text)], [3, ['Here']])
    await amira.locator('.lq-banner').waitFor({ state: 'detached' })
    await amira.context().close()
  })
})

/** The browser asks the user for the microphone until `allow` is called. `tracks` has what it gave then. */
const ASK = `{
  let allow
  const allowed = new Promise((resolve) => { allow = resolve })
  const given = []
  Object.assign(window, { allow, given, asked: 0 })
  navigator.mediaDevices.getUserMedia = async () => {
    window.asked++
    await allowed
    const { stream } = new AudioContext().createMediaStreamDestination()
    given.push(...stream.getTracks())
    return stream
  }
}`

suite('a voice message', () => {
  test('leaves no microphone on after a double click, or if the user leaves meanwhile', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Hello')
    await say(app, 'cleo', 'amira', 'Hello')
    const amira = await kit.open(app, 'amira')
    const live = (count: number, given: number) =>
      until(`${count} of ${given} are on`, () =>
        amira.evaluate(
          `given.length === ${given} && given.filter((one) => one.readyState === 'live').length === ${count}`,
        ),
      )
    await openRoom(amira, /^Ben/)
    const record = amira.getByRole('button', { name: 'Record a voice message' })
    await record.waitFor()
    await amira.evaluate(ASK)
    await record.dblclick()
    await amira.evaluate('allow()')
    await amira.getByRole('timer').waitFor()
    await live(1, 2)
    await amira.getByRole('button', { name: 'Cancel' }).click()
    await live(0, 2)

    await amira.evaluate(ASK)
    await record.click()
    await openRoom(amira, /^Cleo/)
    await message(amira, 'Hello').waitFor()
    await amira.evaluate('allow()')
    await live(0, 1)
    await amira.context().close()
  })
})
