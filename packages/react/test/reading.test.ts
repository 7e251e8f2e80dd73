/** What users see of messages and of the connection, when others or the network don't behave. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { companyOf, say } from './data.ts'
import { field, message, newKit, openRoom } from './page.ts'

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

  test('has a menu that opens when a finger is lifted after a long press, and stays', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Press me')
    const look = { width: 390, height: 800, layout: 'messenger', hasTouch: true, isMobile: true }
    const amira = await kit.open(app, 'amira', look)
    await openRoom(amira, /^Ben/)
    const pressed = message(amira, 'Press me')
    const finger = await fingerOn(amira)
    await finger.down(pressed.locator('.lq-text'))
    await amira.locator('.lq-message[data-pressed]').waitFor()
    await finger.up()
    const quote = amira.getByRole('menuitem', { name: 'Quote' })
    await finger.down(quote)
    await finger.up()
    await amira.locator('.lq-banner', { hasText: 'Quoting Ben Okafor' }).waitFor()
    await quote.waitFor({ state: 'detached' })

    // A short touch opens nothing.
    await finger.down(pressed.locator('.lq-text'))
    await finger.up()
    assert.equal(await amira.getByRole('menu').count(), 0)
    assert.equal(await pressed.getAttribute('data-pressed'), null)
    await amira.context().close()
  })

  test('keeps its emoji picker when the mouse crosses the gap to it', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'React to me')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Ben/)
    await message(amira, 'React to me').hover()
    await amira.getByRole('toolbar').getByLabel('Add a reaction').click()
    const picker = amira.locator('.lq-emoji-grid')
    await picker.waitFor()
    await amira.mouse.move(1, 1)
    await amira.mouse.move(2, 2)
    await picker.getByRole('button').first().click()
    await message(amira, 'React to me').locator('.lq-reaction').first().waitFor()

    await amira.mouse.move(1, 1)
    await field(amira).focus()
    await amira.getByRole('toolbar').waitFor({ state: 'detached' })
    await amira.context().close()
  })
})

/** A finger of the browser itself, whose touches also are pointer events and clicks. */
async function fingerOn(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  return {
    async down(target: Locator) {
      await target.waitFor()
      const { x, y, width, height } = (await target.boundingBox()) ?? assert.fail('not in sight')
      const touchPoints = [{ x: x + width / 2, y: y + height / 2 }]
      await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    },
    up: () => cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] }),
  }
}
