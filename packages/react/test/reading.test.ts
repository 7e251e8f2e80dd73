/** What users see of messages and of the connection, when others or the network don't behave. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { wav } from '../../server/test/media.ts'
import { until } from '../../server/test/until.ts'
import { readyFile, withFiles } from '../../server/test/upload.ts'
import { addHistory, companyOf, say } from './data.ts'
import { field, message, newKit, openRoom, shootLooks } from './page.ts'

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
    await finger.tap(quote)
    await amira.locator('.lq-banner', { hasText: 'Quoting Ben Okafor' }).waitFor()
    await quote.waitFor({ state: 'detached' })

    // A short touch opens nothing.
    await finger.tap(pressed.locator('.lq-text'))
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

suite('the menu of a message', () => {
  test('lets moderators delete what others wrote, and users edit texts only', async () => {
    const app = await companyOf(kit.server)
    const picture = { name: 'a', url: 'https://a.example/a.png', mimeType: 'image/png' }
    await say(app, 'cleo', 'release', 'Buy cheap watches')
    await app.as('ben').messages.send({
      ...{ receiver: 'release', receiverType: 'group', type: 'image' },
      data: { text: 'With a caption', attachments: [picture] },
    })
    const items = async (page: Page, text: string) => {
      await message(page, text).hover()
      await message(page, text).getByRole('button', { name: 'More actions' }).click()
      return page.getByRole('menuitem').allInnerTexts()
    }
    const amira = await kit.open(app, 'amira')
    const ben = await kit.open(app, 'ben')
    for (const page of [amira, ben]) await openRoom(page, /^Release/)
    const own = await items(ben, 'With a caption')
    assert.deepEqual([own.includes('Edit message'), own.includes('Delete message')], [false, true])
    await ben.keyboard.press('Escape')
    assert.ok(!(await items(ben, 'watches')).includes('Delete message'))
    assert.ok(!(await items(amira, 'watches')).includes('Edit message'))
    await amira.getByRole('menuitem', { name: 'Delete message' }).click()
    await amira.getByRole('menuitem', { name: 'Delete this message for everyone?' }).click()
    await ben.locator('.lq-deleted').waitFor()
    for (const page of [amira, ben]) await page.context().close()
  })
})

suite('the conversations', () => {
  test('load page after page while the end of the list is in sight', async () => {
    const app = await companyOf(kit.server)
    const others = ['ben', 'cleo', 'daniel', 'layla', 'yuki', 'long']
    for (const uid of others) await say(app, uid, 'amira', 'Hello')
    const amira = await kit.open(app, 'amira', { plain: 'plain' })
    await amira.locator('.lq-conversation').first().waitFor()
    await amira.route(/conversations\?/, (route) => {
      const url = route
        .request()
        .url()
        .replace(/perPage=\d+/, 'perPage=2')
      return route.continue({ url })
    })
    await amira.reload()
    await amira.locator('.lq-conversation').nth(others.length).waitFor()
    await amira.context().close()
  })

  test('show the name of somebody to whom nobody has written yet', async () => {
    const app = await companyOf(kit.server)
    const amira = await kit.open(app, 'amira', { opened: 'daniel' })
    await amira.getByRole('heading', { name: 'Daniel Weiss' }).waitFor()
    await amira.getByPlaceholder('Message Daniel Weiss').waitFor()
    await amira.context().close()
  })

  test('stand beside what is open on a desktop, and make room for it on a phone', async () => {
    const app = await companyOf(kit.server)
    const first = await say(app, 'ben', 'amira', 'Hello')
    await say(app, 'ben', 'amira', 'In a thread', { parentMessageId: first })
    const amira = await kit.open(app, 'amira', { plain: 'plain' })
    const list = amira.getByRole('navigation')
    const thread = amira.getByRole('complementary')
    const channel = amira.locator('.lq-channel:not(.lq-thread)')
    const widths = async (...parts: Locator[]) =>
      Promise.all(parts.map(async (part) => (await part.boundingBox())?.width))
    await openRoom(amira, /^Ben/)
    assert.deepEqual(await widths(list, channel), [320, 960])
    await shootLooks(amira, 'plain')
    await amira.getByRole('button', { name: /1 reply/ }).click()
    await thread.waitFor()
    assert.deepEqual(await widths(list, channel, thread), [320, 560, 400])
    await amira.setViewportSize({ width: 390, height: 800 })
    assert.deepEqual(await widths(thread), [390])
    await thread.getByRole('button', { name: 'Close' }).click()
    assert.deepEqual(await widths(channel), [390])
    await amira.getByRole('button', { name: 'Back' }).click()
    assert.deepEqual(await widths(list), [390])
    await amira.context().close()
  })
})

suite('the members of a large group', () => {
  test('are loaded in parts', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'cleo', 'release', 'Hello')
    const amira = await kit.open(app, 'amira', { details: 'shown' })
    // As if a part had three of them.
    await amira.route(/members\?perPage=100$/, async (route) => {
      const response = await route.fetch()
      const { data, meta } = await response.json()
      await route.fulfill({ response, json: { data: data.slice(0, 3), meta } })
    })
    await openRoom(amira, /^Release/)
    const members = amira.getByRole('list', { name: 'Members' }).getByRole('listitem')
    const more = amira.getByRole('button', { name: 'Load more' })
    await more.waitFor()
    assert.equal(await members.count(), 3)
    await more.click()
    await members.nth(6).waitFor()
    await more.waitFor({ state: 'detached' })
    await amira.context().close()
  })
})

const refusal = { status: 400, json: { error: { code: 'ERR_BAD_REQUEST', message: 'No.' } } }

suite('people', () => {
  test("and groups that can't be loaded: the pane says so, and shows them when it is opened again", async () => {
    const app = await companyOf(kit.server)
    await say(app, 'cleo', 'amira', 'Hello')
    await say(app, 'cleo', 'release', 'To all')
    const amira = await kit.open(app, 'amira', { details: 'shown' })
    const pane = amira.getByRole('complementary', { name: 'Details' })
    const failed = pane.getByRole('alert').getByText('This could not be loaded.')
    const refused = /v3.(groups.release|users.ben)$/
    const members = /members\?perPage=100$/
    await amira.route(refused, (route) => route.fulfill(refusal))
    await openRoom(amira, /^Release/)
    await failed.waitFor()
    await openRoom(amira, /^Cleo/)
    await pane.getByRole('heading', { name: 'Cleo Laurent' }).waitFor()
    await amira.unroute(refused)
    await amira.route(members, (route) => route.fulfill(refusal))
    await openRoom(amira, /^Release/)
    await pane.getByRole('heading', { name: 'Release' }).waitFor()
    await failed.waitFor()
    await amira.unroute(members)
    await openRoom(amira, /^Cleo/)
    await openRoom(amira, /^Release/)

    await amira.route(refused, (route) => route.fulfill(refusal))
    await amira.locator('.lq-member').getByText('Ben Okafor').click()
    await failed.waitFor()
    await amira.unroute(refused)
    await amira.locator('.lq-up').click()
    await amira.locator('.lq-member').getByText('Ben Okafor').click()
    await pane.getByRole('heading', { name: 'Ben Okafor' }).waitFor()
    await amira.context().close()
  })

  test('are blocked and unblocked again, and refusals are shown', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'From Ben')
    await say(app, 'amira', 'ben', 'From Amira')
    await say(app, 'cleo', 'amira', 'Hello')
    await say(app, 'cleo', 'release', 'To all')
    const amira = await kit.open(app, 'amira', { details: 'shown' })
    const alert = amira.getByRole('alert')
    // Conversations with blocked users leave the list, so the profile is opened among the members of a group.
    const block = amira.getByRole('button', { name: 'Block Ben Okafor', exact: true })
    const unblock = amira.getByRole('button', { name: 'Unblock Ben Okafor' })
    const openProfile = () => amira.locator('.lq-member').getByText('Ben Okafor').click()
    await openRoom(amira, /^Release/)
    await openProfile()
    await block.click()
    await unblock.waitFor()
    await amira.locator('.lq-up').click()
    await openProfile()
    await unblock.click()
    await block.waitFor()
    const pane = await amira.getByRole('complementary').ariaSnapshot()
    for (const part of ['complementary "Details"', 'heading "Ben Okafor"', 'button "Block Ben']) {
      assert.ok(pane.includes(part), pane)
    }
    const mute = amira.getByRole('button', { name: 'Mute notifications', exact: true })
    await mute.click()
    const item = amira.getByRole('navigation').getByRole('button', { name: /^Ben Okafor/ })
    await item.getByTitle('muted').waitFor()
    const { mutedConversations } = await app.client.mutedConversations.list({ uid: 'amira' })
    assert.deepEqual(
      mutedConversations.map(({ id, type }) => [id, type]),
      [['ben', 'oneOnOne']],
    )
    await amira.reload()
    await item.getByTitle('muted').waitFor()
    await openRoom(amira, /^Release/)
    await openProfile()
    await amira.getByRole('button', { name: 'Unmute notifications' }).click()
    await item.getByTitle('muted').waitFor({ state: 'detached' })

    await amira.route(/blockedusers|flag|messages.\d+$|members/, (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.fulfill(refusal),
    )
    await block.click()
    await amira.locator('.lq-actions').getByRole('alert').waitFor()
    await openRoom(amira, /^Ben/)

    const more = async (text: string) => {
      await message(amira, text).hover()
      await message(amira, text).getByRole('button', { name: 'More actions' }).click()
    }
    await more('From Ben')
    await amira.getByRole('menuitem', { name: 'Report message' }).click()
    await amira.getByRole('menuitem', { name: 'Spam' }).click()
    await message(amira, 'From Ben').getByRole('alert').waitFor()
    await more('From Amira')
    await amira.getByRole('menuitem', { name: 'Delete message' }).click()
    await amira.getByRole('menuitem', { name: 'Delete this message for everyone?' }).click()
    await message(amira, 'From Amira').getByRole('alert').waitFor()

    await openRoom(amira, /^Release/)
    for (const item of ['Make admin', 'Remove from the group']) {
      assert.equal(await alert.count(), item === 'Make admin' ? 0 : 1)
      await amira.getByRole('button', { name: 'Manage Cleo Laurent' }).click()
      await amira.getByRole('menuitem', { name: item }).click()
      await alert.waitFor()
    }
    await amira.context().close()
  })
})

suite('the network', () => {
  test('fails while a quoted message or the end is loaded: the list says so and tries again', async () => {
    const app = await companyOf(kit.server)
    const first = await say(app, 'amira', 'release', 'The beginning')
    await addHistory(app, first, 150)
    const { data } = await app.client.onBehalfOf('amira').messages.listGroup('release', {
      ...{ limit: 5, affix: 'append' },
    })
    const oldest = data.filter(({ category }) => category === 'message')
    const [old] = oldest
    await say(app, 'ben', 'release', 'As you said', { quotedMessageId: old?.id })
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Release/)
    await message(amira, 'As you said').waitFor()
    const denied = { status: 401, json: { error: { code: 'ERR_BAD_REQUEST', message: 'No.' } } }
    await amira.route(/groups.release.messages/, (route) => route.fulfill(denied))
    await message(amira, 'As you said').locator('.lq-quoted').click()
    const notice = amira.getByRole('alert').filter({ hasText: 'Messages could not be loaded.' })
    await notice.waitFor()
    assert.equal(await amira.getByText('This message no longer exists.').count(), 0)
    await amira.unroute(/groups.release.messages/)
    // It stays highlighted only for a moment, so the page itself looks for it.
    const highlighted = amira.waitForFunction(
      `document.querySelector('.lq-message[data-highlighted]') !== null`,
    )
    await notice.getByRole('button', { name: 'Retry' }).click()
    await highlighted
    await notice.waitFor({ state: 'detached' })

    // The way back to the end fails, too.
    await amira.route(/groups.release.messages/, (route) => route.fulfill(denied))
    await amira.getByRole('button', { name: 'Jump to the latest message' }).click()
    await notice.waitFor()
    await amira.unroute(/groups.release.messages/)
    await notice.getByRole('button', { name: 'Retry' }).click()
    await message(amira, 'As you said').waitFor()
    await notice.waitFor({ state: 'detached' })

    await amira.context().close()

    // What is unread begins far above the messages that are loaded. Amira's page may still be marking the end as read, so
    // this is somebody else's view.
    const { conversations } = app.client.onBehalfOf('cleo')
    await conversations.markGroupUnread('release', { messageId: oldest.at(-1)?.id ?? '' })
    const cleo = await kit.open(app, 'cleo')
    await openRoom(cleo, /^Release/)
    await cleo.locator('.lq-pill-top', { hasText: /unread message/ }).click()
    await until('the old messages are in sight', () =>
      cleo.evaluate<boolean>(
        `[...document.querySelectorAll('.lq-message')].some((one) => /no 14\\d/.test(one.textContent))`,
      ),
    )
    await cleo.context().close()
  })

  test('is slow: a message that arrives before the others does not hide where the unread ones begin', async () => {
    const app = await companyOf(kit.server)
    const first = await say(app, 'amira', 'release', 'The beginning')
    await addHistory(app, first, 150)
    const cleoApi = app.client.onBehalfOf('cleo')
    const { data } = await cleoApi.messages.listGroup('release', { limit: 5, affix: 'append' })
    await cleoApi.conversations.markGroupUnread('release', { messageId: data.at(-1)?.id ?? '' })
    const cleo = await kit.open(app, 'cleo')
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    await cleo.route(/groups.release.messages/, async (route) => {
      asked.resolve()
      await answered.promise
      await route.continue()
    })
    await openRoom(cleo, /^Release/)
    await asked.promise
    await say(app, 'ben', 'release', 'As you said')
    await message(cleo, 'As you said').waitFor()
    answered.resolve()
    await message(cleo, 'The beginning').waitFor()
    await cleo.locator('.lq-pill-top', { hasText: /unread message/ }).waitFor()
    await cleo.context().close()
  })

  test('has no place for a user whose token was revoked: the bar says so', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Hello')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Ben/)
    await message(amira, 'Hello').waitFor()
    for (const { authToken } of (await app.client.authTokens.list('amira', {})).data) {
      await app.client.authTokens.delete('amira', authToken)
    }
    const bar = amira.locator('.lq-connection')
    await bar.getByText('You are no longer connected. Sign in again.').waitFor()
    assert.equal(await bar.count(), 1)
    await amira.context().close()
  })
})

suite('a player', () => {
  test('keeps its place when links are renewed, which is before they end', async () => {
    const app = await companyOf(kit.server)
    const ben = app.as('ben')
    const sound = await readyFile(app, ben, wav(), { name: 'hi.wav', mimeType: 'audio/wav' })
    const notes = await readyFile(app, ben, Buffer.from('Notes'), {
      ...{ name: 'notes.txt', mimeType: 'text/plain' },
    })
    await ben.messages.send(withFiles('amira', [sound], { type: 'audio' }))
    await ben.messages.send(withFiles('amira', [notes], { type: 'file' }))
    await say(app, 'cleo', 'amira', 'Hello')
    const amira = await kit.open(app, 'amira')
    await amira.clock.install()
    let asked = 0
    // The links of each request differ, although the server may sign them within the same second.
    await amira.route('**/v3/files/urls', async (route) => {
      const response = await route.fetch()
      const { data } = await response.json()
      asked++
      for (const { links } of data) links.file += `#${asked}`
      await route.fulfill({ response, json: { data } })
    })
    const link = (nth: number) => amira.locator(`a.lq-file[href$="#${nth}"]`)
    await openRoom(amira, /^Ben/)
    await link(1).waitFor()
    await openRoom(amira, /^Cleo/)
    await message(amira, 'Hello').waitFor()
    await amira.clock.fastForward(180_000)
    await openRoom(amira, /^Ben/)
    await link(1).waitFor()
    const player = `document.querySelector('audio')`
    // The sound has one second; slowly, it lasts until it is paused.
    await amira.evaluate(
      `{ ${player}.muted = true; ${player}.playbackRate = 0.0625; ${player}.play() }`,
    )
    await until('it plays', () => amira.evaluate(`${player}.currentTime > 0`))
    await amira.evaluate(`${player}.pause()`)
    const at = await amira.evaluate(`${player}.currentTime`)
    await amira.clock.fastForward(70_000)
    await link(2).waitFor()
    assert.equal(await amira.evaluate(`${player}.currentTime`), at)
    assert.match(String(await amira.evaluate(`${player}.src`)), /#1$/)
    await amira.evaluate(`{ ${player}.playbackRate = 1; ${player}.play() }`)
    await until('it has ended', () => amira.evaluate(`${player}.src.endsWith('#2')`))
    await amira.context().close()
  })
})

/** A finger of the browser itself, whose touches also are pointer events and clicks. */
async function fingerOn(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  const pointsOn = async (target: Locator) => {
    await target.waitFor()
    const { x, y, width, height } = (await target.boundingBox()) ?? assert.fail('not in sight')
    return [{ x: x + width / 2, y: y + height / 2 }]
  }
  const start = (touchPoints: { x: number; y: number }[]) =>
    cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
  const end = () => cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  return {
    down: async (target: Locator) => start(await pointsOn(target)),
    up: end,
    /** Doesn't wait in between: on a slow machine, that would be a long press. */
    async tap(target: Locator) {
      const points = await pointsOn(target)
      await Promise.all([start(points), end()])
    },
  }
}
