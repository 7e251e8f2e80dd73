/** What users write: texts, mentions, files and voice messages, and what becomes of them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
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
