/** The main components in a real browser: two people in every part of them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { DISAPPROVED, PENDING, sendJudged } from '../../server/test/held.ts'
import { phonePhoto } from '../../server/test/media.ts'
import { until } from '../../server/test/until.ts'
import { findings } from './axe.ts'
import { companyOf, say } from './data.ts'
import { field, message, newKit, openRoom, shoot, write } from './page.ts'

const kit = await newKit()

/** Moves a finger over the last message that contains the text. */
const swipe = (text: string) => `{
  const all = [...document.querySelectorAll('.lq-message')]
  const target = all.findLast((one) => one.textContent.includes('${text}'))
  const touch = (type, clientX) => target.dispatchEvent(new TouchEvent(type, {
    bubbles: true,
    touches: [new Touch({ identifier: 1, target, clientX, clientY: 100 })],
  }))
  touch('touchstart', 100)
  touch('touchmove', 140)
  touch('touchmove', 190)
  touch('touchend', 190)
}`

/** Pastes a file where the user writes, or drops it on the messages. */
const handOver = (type: string, name: string) => `{
  const data = new DataTransfer()
  data.items.add(new File(['Notes'], '${name}', { type: 'text/plain' }))
  const options = { bubbles: true, cancelable: true }
  const [where, event] = '${type}' === 'paste'
    ? ['.lq-composer textarea', new ClipboardEvent('paste', { ...options, clipboardData: data })]
    : ['.lq-scroller', new DragEvent('drop', { ...options, dataTransfer: data })]
  document.querySelector(where).dispatchEvent(event)
}; 0`

/** Whether the browser itself moves a text that is dragged over the field. */
const TAKES_TEXT = `(() => {
  const dataTransfer = new DataTransfer()
  dataTransfer.setData('text/plain', 'A text')
  const event = new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer })
  return document.querySelector('.lq-composer textarea').dispatchEvent(event)
})()`

/** The longest animation or transition that something in the page has, in seconds. */
const MOTION = `Math.max(...[...document.querySelectorAll('.lq *')].flatMap((one) => {
  const { transitionDuration, animationName, animationDuration } = getComputedStyle(one)
  const animations = animationName === 'none' ? '0s' : animationDuration
  return (transitionDuration + ',' + animations).split(',').map(Number.parseFloat)
}))`

/** Whether a view has all of these parts for screen readers. */
async function assertRead(view: Locator, ...parts: string[]): Promise<void> {
  const tree = await view.ariaSnapshot()
  for (const part of parts) assert.ok(tree.includes(part), `no ${part} in:\n${tree}`)
}

suite('two people', () => {
  test('write, react, quote, edit, delete, reply in threads and see receipts', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Hello Amira')
    await say(app, 'amira', 'release', 'We release on Thursday.')
    const amira = await kit.open(app, 'amira')
    const ben = await kit.open(app, 'ben', { width: 390, height: 800, layout: 'messenger' })

    await openRoom(amira, /^Ben/)
    await message(amira, 'Hello Amira').waitFor()
    await write(amira, 'Hi Ben, see `npm test` and https://example.org/a.')
    await openRoom(ben, /^Amira/)
    await message(ben, 'Hi Ben').waitFor()
    assert.equal(await ben.locator('.lq-text a').getAttribute('href'), 'https://example.org/a')
    assert.equal(await ben.locator('.lq-text code').textContent(), 'npm test')
    await message(amira, 'Hi Ben').locator('.lq-status[data-read]').waitFor()
    // Ben has a page open.
    await amira.locator('.lq-header').getByText('Online').waitFor()
    await amira.locator('.lq-header .lq-presence').waitFor()

    await Promise.all([
      amira.locator('.lq-typing', { hasText: 'Ben Okafor is typing' }).waitFor(),
      field(ben).pressSequentially('Writing', { delay: 500 }),
    ])
    await field(ben).press('Enter')
    await message(amira, 'Writing').waitFor()
    await amira.locator('[role=status]', { hasText: 'Ben Okafor: Writing' }).waitFor({
      state: 'attached',
    })

    await message(amira, 'Writing').hover()
    await amira.getByRole('button', { name: 'React with 👍' }).click()
    await message(ben, 'Writing')
      .getByRole('button', { name: /1 person/ })
      .waitFor()
    await message(amira, 'Writing').hover()
    await message(amira, 'Writing').getByRole('toolbar').getByLabel('Add a reaction').click()
    await amira.getByPlaceholder('Search emoji').fill('rocket')
    await amira.getByPlaceholder('Search emoji').press('Enter')
    await message(ben, 'Writing').locator('.lq-reaction', { hasText: '🚀' }).waitFor()

    await message(amira, 'Writing').hover()
    await amira.getByRole('button', { name: 'Quote' }).click()
    await amira.locator('.lq-banner', { hasText: 'Quoting Ben Okafor' }).waitFor()
    await write(amira, 'What exactly?')
    await message(ben, 'What exactly?').locator('.lq-quoted', { hasText: 'Writing' }).waitFor()

    // A finger that moves the message quotes it, too.
    await ben.evaluate(swipe('What exactly?'))
    await ben.locator('.lq-banner', { hasText: 'Quoting Amira Haddad' }).waitFor()
    await ben.locator('.lq-banner').getByRole('button', { name: 'Cancel' }).click()

    // The arrow up edits the last own message.
    await field(amira).press('ArrowUp')
    await until('the text is there', async () => (await field(amira).inputValue()) !== '')
    assert.equal(await field(amira).inputValue(), 'What exactly?')
    await write(amira, 'What are you writing?')
    await message(ben, 'What are you writing?').locator('.lq-edited').waitFor()

    await message(amira, 'Hi Ben').hover()
    await amira.getByRole('button', { name: 'More actions' }).click()
    await amira.getByRole('menuitem', { name: 'Delete message' }).click()
    await amira.getByRole('menuitem', { name: 'Delete this message for everyone?' }).click()
    await ben.locator('.lq-deleted').waitFor()

    const written = message(amira, 'Writing').first()
    await written.hover()
    await written.getByRole('button', { name: 'Reply in thread' }).click()
    const reply = amira.getByRole('complementary').getByRole('textbox')
    await reply.fill('In a thread')
    await reply.press('Enter')
    await ben.getByRole('button', { name: /1 reply/ }).click()
    await ben.getByRole('complementary').getByText('In a thread').waitFor()
    await assertRead(
      amira.getByRole('complementary'),
      ...['complementary "Thread"', 'heading "Thread" [level=2]', 'button "Close"'],
      ...['article "You, ', 'button "Ben Okafor Writing"', 'log "Messages with Ben Okafor"'],
      ...['text: In a thread', 'button "Attach files"', 'textbox "Reply…"'],
    )
    await shoot(amira, 'workspace-thread')
    await shoot(ben, 'messenger-390-thread')
    assert.deepEqual(await findings(amira), [])
    assert.deepEqual(await findings(ben), [])
    for (const page of [amira, ben]) await page.context().close()
  })

  test('mention, keep drafts, send files and see that a message waits for review', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'cleo', 'release', 'The screenshots are done.')
    await say(app, 'ben', 'amira', 'Are you there?')
    const amira = await kit.open(app, 'amira')
    await openRoom(amira, /^Release/)
    await field(amira).pressSequentially('Well done @cl')
    await amira.getByRole('option', { name: 'Cleo Laurent' }).waitFor()
    await field(amira).press('Enter')
    assert.equal(await field(amira).inputValue(), 'Well done @Cleo Laurent ')
    await field(amira).press('Enter')
    await amira.locator('.lq-mention', { hasText: '@Cleo Laurent' }).waitFor()
    await message(amira, 'Well done').locator('.lq-status', { hasText: 'Sent' }).waitFor()
    // One reads it while she looks, another one while she is elsewhere.
    const read = (text: string) =>
      message(amira, 'Well done').locator('.lq-readers', { hasText: text }).waitFor()
    await app.as('daniel').conversations.markGroupRead('release', {})
    await read('Read by 1 person')

    await field(amira).fill('half a text')
    await openRoom(amira, /^Ben/)
    await until('the field is empty', async () => (await field(amira).inputValue()) === '')
    await app.as('yuki').conversations.markGroupRead('release', {})
    await openRoom(amira, /^Release/)
    await read('Read by 2 people')
    await until('the draft is back', async () => (await field(amira).inputValue()) !== '')
    assert.equal(await field(amira).inputValue(), 'half a text')
    await field(amira).fill('')

    const picture = await phonePhoto(640, 480)
    await amira.locator('input[type=file]').setInputFiles([
      { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: picture },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') },
    ])
    assert.equal(await amira.locator('.lq-tile').count(), 2)
    await write(amira, 'Two files')
    for (const [type, name] of Object.entries({ paste: 'pasted.txt', drop: 'dropped.txt' })) {
      await amira.evaluate(handOver(type, name))
      await amira.locator('.lq-tile', { hasText: name }).waitFor()
    }
    assert.ok(await amira.evaluate<boolean>(TAKES_TEXT))
    await amira.locator('.lq-composer').getByRole('button', { name: 'Emoji' }).click()
    await amira.getByPlaceholder('Search emoji').fill('rocket')
    await amira.getByPlaceholder('Search emoji').press('Enter')
    await until('the emoji is there', async () => (await field(amira).inputValue()) === '🚀')
    await field(amira).press('Enter')
    for (const name of ['pasted.txt', 'dropped.txt']) {
      await amira.locator('a.lq-file', { hasText: name }).waitFor()
    }
    await amira.locator('a.lq-file', { hasText: 'notes.txt' }).waitFor()
    for (const name of ['Two files', 'notes.txt']) {
      await message(amira, name).locator('.lq-status', { hasText: 'Sent' }).waitFor()
    }
    await until('the picture is loaded', () =>
      amira.evaluate(`document.querySelector('.lq-picture img')?.naturalWidth > 0`),
    )
    await openRoom(amira, /^Ben/)
    await message(amira, 'Are you there?').waitFor()
    await sendJudged(kit.server, app, ['amira', 'ben'], PENDING, { data: { text: 'Careful' } })
    await amira.locator('.lq-moderation', { hasText: 'Waiting for review' }).waitFor()
    await sendJudged(kit.server, app, ['amira', 'ben'], DISAPPROVED, { data: { text: 'Rude' } })
    await amira.locator('.lq-moderation[data-status=disapproved]').waitFor()
    await amira.context().close()
  })
})

suite('the views', () => {
  test('can be used from the keyboard, read by screen readers and mirrored', async () => {
    const app = await companyOf(kit.server)
    await fill(app)
    const page = await kit.open(app, 'amira')
    const buttons = page.getByRole('navigation').getByRole('button')
    await buttons.first().focus()
    await page.keyboard.press('ArrowDown')
    const second = `document.activeElement === document.querySelectorAll('nav button')[1]`
    assert.ok(await page.evaluate(second))
    await buttons.filter({ hasText: 'Release 2.4' }).focus()
    await page.keyboard.press('Enter')
    const log = page.getByRole('log', { name: 'Messages with Release 2.4' })
    await log.waitFor()
    await log.getByText('approve the release notes').first().waitFor()
    await page.locator('.lq-divider-new').waitFor()
    await log.focus()
    await page.keyboard.press('ArrowUp')
    await until('the last message has the focus', () =>
      page.evaluate(`document.activeElement?.matches('article.lq-message')`),
    )
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(`document.activeElement?.ariaLabel`), 'React with 👍')
    await assertRead(
      page.locator('main'),
      ...['navigation "Conversations"', 'button "Release 2.4', 'heading "Release 2.4" [level=2]'],
      ...['log "Messages with Release 2.4"', 'article "Ben Okafor, ', 'toolbar "More actions"'],
      ...['button "React with 👍"', 'textbox "Message Release 2.4"', 'button "Emoji"'],
    )
    assert.equal(await page.evaluate(MOTION), 0)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    assert.ok(await page.evaluate<boolean>(`${MOTION} > 0`))
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await shoot(page, 'workspace-light')
    assert.deepEqual(await findings(page), [])
    await page.context().close()

    const { data } = await app.client.onBehalfOf('yuki').messages.listGroup('release', {
      ...{ limit: 4, affix: 'prepend' },
    })
    const { conversations } = app.client.onBehalfOf('amira')
    for (const [name, look] of Object.entries(LOOKS)) {
      await conversations.markGroupUnread('release', { messageId: data[0]?.id ?? '' })
      const other = await kit.open(app, 'amira', look)
      await other.getByRole('navigation').getByRole('button').first().waitFor()
      await shoot(other, `${name}-list`)
      await other.getByRole('button', { name: /^Release 2.4/ }).click()
      await other.locator('.lq-divider-new').waitFor()
      await shoot(other, name)
      assert.deepEqual(await findings(other), [], name)
      if (name === 'workspace-ar') {
        assert.ok(await other.evaluate<boolean>(IS_MIRRORED))
        await assertPickerMirrored(other)
      }
      if (name === 'workspace-es') {
        await assertRead(
          other.locator('main'),
          'navigation "Conversaciones"',
          'textbox "Mensaje para',
        )
      }
      await other.context().close()
    }
  })
})

/** Whether the list is right of the messages, and what others write begins at the right. */
const IS_MIRRORED = `(() => {
  const boxOf = (selector) => document.querySelector(selector).getBoundingClientRect()
  const isRight = boxOf('nav').left >= boxOf('.lq-channel').right - 1
  return isRight && boxOf('.lq-message-side').left > boxOf('.lq-message-main').left
})()`

/** The emoji picker begins where its button does, in the direction of the text. */
async function assertPickerMirrored(page: Page): Promise<void> {
  const button = page.locator('.lq-composer [aria-expanded]')
  await button.click()
  const picker = page.locator('.lq-popover')
  await picker.getByRole('button').first().waitFor()
  assert.equal((await picker.boundingBox())?.x, (await button.boundingBox())?.x)
  await page.keyboard.press('Escape')
}

const LOOKS = {
  'workspace-dark': { theme: 'dark' },
  'workspace-compact': { density: 'compact' },
  'messenger-light': { layout: 'messenger' },
  'messenger-390-dark': { layout: 'messenger', theme: 'dark', width: 390, height: 800 },
  'workspace-es': { lang: 'es', locale: 'es' },
  'workspace-ar': { lang: 'ar', locale: 'ar' },
  'messenger-390-ar': { lang: 'ar', locale: 'ar', layout: 'messenger', width: 390, height: 800 },
}

async function fill(app: Awaited<ReturnType<typeof companyOf>>): Promise<void> {
  await say(app, 'long', 'amira', 'A long name, isn’t it?')
  await say(app, 'layla', 'amira', 'مرحبًا أميرة، هل رأيتِ التصميم الجديد؟')
  await say(app, 'yuki', 'amira', '明日の会議は10時からです。資料を送りました。')
  await say(app, 'ben', 'amira', '🎉🎉')
  const first = await say(app, 'amira', 'release', 'We release on Thursday at 10. What is open?')
  await say(app, 'cleo', 'release', 'The screenshots.', { parentMessageId: first })
  await say(app, 'ben', 'release', 'Two tests on old phones.', { parentMessageId: first })
  const second = await say(
    ...([app, 'ben', 'release'] as const),
    'The release candidate is on the test server. Please try it with your own account, and write down everything that looks odd, even if it is small: https://test.example.org/2.4',
  )
  for (const uid of ['amira', 'cleo', 'daniel']) {
    await app.client.onBehalfOf(uid).messages.addReaction(second, '👍')
  }
  await app.client.onBehalfOf('cleo').messages.addReaction(second, '🚀')
  await say(app, 'ben', 'release', 'And run this first:\n```\nnpm ci\nnpm test\n```')
  await say(app, 'layla', 'release', 'التطبيق يعمل جيدًا على هاتفي، شكرًا للجميع!')
  await say(app, 'amira', 'release', 'Great, thank you', { quotedMessageId: second })
  const { conversations } = app.client.onBehalfOf('amira')
  await conversations.markGroupRead('release', {})
  for (const uid of ['ben', 'layla', 'yuki']) {
    await app.client.onBehalfOf(uid).conversations.markGroupRead('release', {})
  }
  await say(app, 'yuki', 'release', 'スクリーンショットを更新しました。')
  await say(app, 'cleo', 'release', '🚀')
  await say(
    ...([app, 'ben', 'release'] as const),
    '<@uid:amira> can you approve the release notes before 4 pm? Then we are ready.',
  )
}
