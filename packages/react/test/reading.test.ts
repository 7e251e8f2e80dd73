/** What users see of messages and of the connection, when others or the network don't behave. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { companyOf, say } from './data.ts'
import { message, newKit, openRoom } from './page.ts'

const kit = await newKit()

suite('a message', () => {
  test('can mention what every object inherits', async () => {
    const app = await companyOf(kit.server)

    const data = { mentions: null, entities: null, reactions: null, moderation: null }
    await say(app, 'ben', 'amira', '<@uid:__proto__> and <@uid:constructor>', {
      data: { text: '<@uid:__proto__> and <@uid:constructor>', ...data },
    })
    await say(app, 'ben', 'amira', 'After it <@uid:__proto__>')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Ben.*@__proto__/)
    await message(amira, 'After it').waitFor()
    const shown = await message(amira, 'and').locator('.lq-text').textContent()
    assert.match(shown ?? '', /^<@uid:__proto__> and <@uid:constructor>$/)
    await amira.context().close()
  })
})
