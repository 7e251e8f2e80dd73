/** Two people call each other in the kit, with fake cameras. One of them reads Arabic. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ar } from '../src/strings/ar.ts'
import { findings } from './axe.ts'
import { companyOf, say } from './data.ts'
import { newKit, openRoom, shoot } from './page.ts'

const kit = await newKit({}, [
  '--use-fake-device-for-media-stream=fps=10',
  '--use-fake-ui-for-media-stream',
  '--allow-loopback-in-peer-connection',
  '--autoplay-policy=no-user-gesture-required',
])

/** Waits until a video of another participant has frames. */
const seesOther = (page: Page) =>
  page.waitForFunction(
    `document.querySelector('.lq-call-tile:not([data-own]) video')
      ?.getVideoPlaybackQuality().totalVideoFrames > 3`,
  )

const PHONE = { width: 390, height: 800 }
const texts = ar.calls

/** The member who was added last. The preview of the group is longer than the phone is wide. */
const LONG = 'Maximilian'

/** In how many lines the phone says what rings. */
const LINES = `(() => {
  const range = document.createRange()
  range.selectNodeContents(document.querySelector('.lq-ringing-names > small'))
  return range.getClientRects().length
})()`

/** Which letters of the long name are cut off. */
const HIDDEN = `(() => {
  const previews = [...document.querySelectorAll('.lq-preview')]
  const element = previews.find(({ textContent }) => textContent.includes('${LONG}'))
  const box = element.getBoundingClientRect()
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  while (!texts.nextNode().textContent.includes('${LONG}'));
  const { currentNode: text } = texts
  const start = text.textContent.indexOf('${LONG}')
  const range = document.createRange()
  return [...'${LONG}'].filter((_, nth) => {
    range.setStart(text, start + nth)
    range.setEnd(text, start + nth + 1)
    const { left, right, top, bottom } = range.getBoundingClientRect()
    return left < box.left || right > box.right || top < box.top || bottom > box.bottom
  })
})()`

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** The share of the height of the tiles that the highest one has. */
const HIGHEST = `(() => {
  const heights = [...document.querySelectorAll('.lq-call-tile')].map((one) => one.clientHeight)
  return Math.max(...heights) / document.querySelector('.lq-call-tiles').clientHeight
})()`

/** The background of the button under the pointer. */
const POINTED = `getComputedStyle(document.querySelector('.lq-call .lq-tool:hover')).backgroundColor`

suite('calls in the kit', () => {
  test('show everyone, or who speaks with the others below', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'release', 'Shall we talk?')
    const amira = await kit.open(app, 'amira', { calls: '1' })
    await openRoom(amira, /^Release/)
    await button(amira, 'Start an audio call').click()
    await amira.getByText('Ringing…').waitFor()
    const [call] = (await app.client.calls.list()).data
    const talking = ['ben', 'cleo', 'daniel', 'layla']
    for (const uid of talking) await app.as(uid).calls.join(call?.sessionId ?? '', {})
    await amira.locator('.lq-call-tile').nth(talking.length).waitFor()
    await shoot(amira, 'call-grid')
    const grid = await amira.evaluate<number>(HIGHEST)
    assert.ok(grid < 0.6, `${grid}`)
    await button(amira, 'Show who speaks').click()
    assert.equal(await amira.locator('.lq-call-tile[data-main]').count(), 1)
    // The call is dark in the light theme, too. The pointer is on the button.
    assert.match(await amira.evaluate<string>(POINTED), /0\.16\)$/)
    await shoot(amira, 'call-speaker')
    assert.ok((await amira.evaluate<number>(HIGHEST)) > 0.6)
    await amira.setViewportSize(PHONE)
    assert.ok((await amira.evaluate<number>(HIGHEST)) > 0.4)
    await shoot(amira, 'call-speaker-390')
    assert.deepEqual(await findings(amira), [])
    await button(amira, 'Show everyone').click()
    // Two beside each other.
    assert.ok((await amira.evaluate<number>(HIGHEST)) > 0.25)
    await shoot(amira, 'call-grid-390')
    await button(amira, 'Hang up').click()
    await amira.context().close()
  })

  test('ring, show everyone, can be muted, and leave entries in the conversation', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Do you have a minute?')
    const [amira, ben] = await Promise.all([
      kit.open(app, 'amira', { calls: '1' }),
      kit.open(app, 'ben', { ...PHONE, calls: '1', theme: 'dark', lang: 'ar', locale: 'ar' }),
    ])
    await openRoom(amira, /^Ben/)
    await button(amira, 'Start a video call').click()
    await amira.getByText('Ringing…').waitFor()
    await ben.getByText(texts.ringing.video).waitFor()
    await ben.locator('.lq-preview', { hasText: LONG }).waitFor()
    assert.equal(await ben.evaluate(LINES), 1)
    assert.deepEqual(await ben.evaluate(HIDDEN), [])
    await shoot(ben, 'call-incoming-390-ar')
    assert.deepEqual(await findings(ben), [])
    await button(ben, texts.answer).click()
    await Promise.all([seesOther(amira), seesOther(ben)])
    await button(amira, 'Microphone').click()
    await ben.getByText(texts.muted('Amira Haddad')).waitFor({ state: 'attached' })
    await shoot(amira, 'call')
    await shoot(ben, 'call-390-ar')
    assert.deepEqual(await findings(amira), [])
    const { data } = await app.client.calls.list()
    await app.client.calls.startRecording(data[0]?.sessionId ?? '')
    await amira.getByText('This call is recorded.').waitFor()
    await ben.getByText(texts.recorded).waitFor()
    await shoot(amira, 'call-recorded')
    await shoot(ben, 'call-recorded-390-ar')
    assert.deepEqual(await findings(ben), [])
    await button(amira, 'Make the call smaller').click()
    await shoot(amira, 'call-small')
    await button(ben, texts.smaller).click()
    await shoot(ben, 'call-small-390-ar')
    assert.deepEqual(await findings(ben), [])
    await button(ben, texts.hangUp).click()
    await amira.locator('.lq-call').waitFor({ state: 'detached' })
    await amira.getByText(/^Video call, \d+:\d\d/).waitFor()

    await button(amira, 'Start an audio call').click()
    await button(ben, texts.answer).waitFor()
    await button(amira, 'Hang up').click()
    await amira.getByText('Audio call, not answered').waitFor()
    await openRoom(ben, /^Amira/)
    await ben.getByText(texts.missed.audio('Amira Haddad')).waitFor()
    await shoot(ben, 'call-missed-390-ar')
    await shoot(amira, 'call-entries')
    await Promise.all([amira.context().close(), ben.context().close()])
  })
})
