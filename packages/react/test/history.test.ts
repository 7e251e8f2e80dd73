/** Long conversations: what is on the screen stays where it is, whatever is loaded around it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { LONG } from '../../server/test/long.ts'
import { assertWithin, timedTest } from '../../server/test/timed-test.ts'
import { until } from '../../server/test/until.ts'
import { addHistory, companyOf, say } from './data.ts'
import { newKit } from './page.ts'

const kit = await newKit()
const DEPTH = LONG ? 10_000 : 700
/** How many messages somebody scrolls through, and how many of them in one trace. */
const LENGTH = LONG ? 50_000 : 700
const TRACED = LONG ? 5_000 : 350
const TASK_MS = 50
const ROOM = 'amira_user_ben'

const openBen = async (page: Page) => {
  await page.getByRole('navigation').getByRole('button', { name: /^Ben/ }).click()
  await page.locator('.lq-message').first().waitFor()
}

/**
 * Scrolls up until so many messages are loaded. After each page, measures how far the message that was at the top of the
 * screen has moved. Returns the largest distance, and the most rows that were in the document.
 */
const CLIMB = `async (depth) => {
  const scroller = document.querySelector('.lq-scroller')
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  const room = () => client.state.rooms['${ROOM}']
  const rest = async () => {
    for (let quiet = 0, last; quiet < 4; ) {
      await frame()
      const now = scroller.scrollTop + ' ' + scroller.scrollHeight
      quiet = now === last ? quiet + 1 : 0
      last = now
    }
  }
  const topOf = (label) => {
    const rows = [...scroller.querySelectorAll('.lq-message')]
    return rows.find((row) => row.textContent.includes(label))?.getBoundingClientRect().top
  }
  let moved = 0, rows = 0, pages = 0
  while (room().messages.length < depth && room().more) {
    scroller.scrollTop = Math.max(0, scroller.scrollTop - 900)
    await frame()
    const count = room().messages.length
    if (!room().loading) { await rest(); if (!room().loading && count === room().messages.length) continue }
    const { top } = scroller.getBoundingClientRect()
    const seen = [...scroller.querySelectorAll('.lq-message')]
      .find((row) => row.getBoundingClientRect().top >= top)
    const label = /no \\d+ ?/.exec(seen?.textContent ?? '')?.[0]
    const before = label && topOf(label)
    while (room().loading) await frame()
    await rest()
    if (before !== undefined) {
      moved = Math.max(moved, Math.abs((topOf(label) ?? Infinity) - before))
      pages++
    }
    rows = Math.max(rows, scroller.querySelectorAll('.lq-row').length)
  }
  return { moved, rows, pages, count: room().messages.length }
}`

/** Scrolls up, a screen per frame, until so many messages are loaded. Returns the most rows that were in the document. */
const RISE = `async (count) => {
  const scroller = document.querySelector('.lq-scroller')
  const room = () => client.state.rooms['${ROOM}']
  let rows = 0
  while (room().messages.length < count && room().more) {
    scroller.scrollTop -= 900
    await new Promise(requestAnimationFrame)
    rows = Math.max(rows, scroller.querySelectorAll('.lq-row').length)
  }
  return rows
}`

/** Scrolls down to the end, two screens per frame. */
const FALL = `async () => {
  const scroller = document.querySelector('.lq-scroller')
  let rows = 0
  while (document.querySelector('.lq-pill-end')) {
    scroller.scrollTop += 1_600
    await new Promise(requestAnimationFrame)
    rows = Math.max(rows, scroller.querySelectorAll('.lq-row').length)
  }
  return rows
}`

/**
 * Scrolls down, a bit at a time. Returns how many messages were on the way, and how far one of them was at most from where it had
 * to be.
 */
const DESCEND = `async (steps) => {
  const scroller = document.querySelector('.lq-scroller')
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  const seen = new Set()
  const inSight = () => [...scroller.querySelectorAll('.lq-message')].flatMap((row) => {
    const label = /no \\d+ ?/.exec(row.textContent)?.[0]
    const { top } = row.getBoundingClientRect()
    return label && top > 0 && top < innerHeight ? [[label, top]] : []
  })
  let moved = 0
  for (let nth = 0; nth < steps && document.querySelector('.lq-pill-end'); nth++) {
    const before = new Map(inSight())
    const from = scroller.scrollTop
    scroller.scrollTop += 500
    const by = scroller.scrollTop - from
    await frame()
    await frame()
    for (const [label, top] of inSight()) {
      seen.add(label)
      if (before.has(label)) moved = Math.max(moved, Math.abs(before.get(label) - by - top))
    }
  }
  return { moved, seen: seen.size }
}`

/** The most CPU time that a task of the page's main thread takes while something happens, in milliseconds. */
async function longestTask(page: Page, work: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser() ?? assert.fail('no browser')
  await browser.startTracing(page, { categories: ['toplevel'] })
  await work()
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as {
    traceEvents: Traced[]
  }
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`),
  )
  assert.ok(tasks.length > 0, 'no tasks')
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1_000
}

interface Descent {
  moved: number
  seen: number
}

/** An event of Chromium's trace. `tdur` is CPU time, in microseconds. */
interface Traced {
  name: string
  pid: number
  tid: number
  tdur?: number
  args?: { name?: string }
}

suite('a long conversation', () => {
  test('keeps what is on the screen in its place while older messages load', async () => {
    const app = await companyOf(kit.server)
    const first = await say(app, 'amira', 'ben', 'The first one.')
    await addHistory(app, first, DEPTH + 200)
    const page = await kit.open(app, 'amira')
    await openBen(page)
    const { moved, rows, pages, count } = await page.evaluate<Record<string, number>>(
      `(${CLIMB})(${DEPTH})`,
    )
    console.log(`${count} messages, ${pages} pages, moved by ${moved} px, ${rows} rows`)
    assert.ok((count ?? 0) >= DEPTH && (pages ?? 0) > DEPTH / 200, `${count} in ${pages} pages`)
    assert.ok((moved ?? 99) <= 1, `moved by ${moved} px`)
    assert.ok((rows ?? 999) < 80, `${rows} rows`)

    // Back at the end, the list follows new messages again.
    await page.getByRole('button', { name: 'Jump to the latest message' }).click()
    await page.getByText('The first one.').last().waitFor()
    await say(app, 'ben', 'amira', 'A new one.')
    await page.locator('.lq-message', { hasText: 'A new one.' }).waitFor()
    await until('the list is at its end', () => page.evaluate(AT_END))
    await page.context().close()
  })

  timedTest('keeps few rows and short tasks while somebody scrolls through it', async () => {
    const app = await companyOf(kit.server)
    const first = await say(app, 'amira', 'ben', 'The first one.')
    await addHistory(app, first, LENGTH + 200)
    const page = await kit.open(app, 'amira')
    await openBen(page)
    let rows = 0
    let longest = 0
    const scroll = async (script: string) => {
      const took = await longestTask(page, async () => {
        rows = Math.max(rows, await page.evaluate<number>(script))
      })
      longest = Math.max(longest, took)
      return took
    }
    for (let count = TRACED; count <= LENGTH; count += TRACED) {
      const took = await scroll(`(${RISE})(${count})`)
      if (LONG) console.log(`${count} messages: ${took.toFixed(1)} ms`)
    }
    const held = await page.evaluate<number>(`client.state.rooms['${ROOM}'].messages.length`)
    assert.ok(held >= LENGTH, `${held} messages`)
    const { moved, seen } = await page.evaluate<Descent>(`(${DESCEND})(300)`)
    const down = await scroll(`(${FALL})()`)
    // What arrives changes a room that holds all of them.
    const news = await longestTask(page, async () => {
      const id = await say(app, 'ben', 'amira', 'A new one.')
      await page.locator('.lq-message', { hasText: 'A new one.' }).waitFor()
      await app.as('ben').messages.addReaction(id, '👍')
      await page.locator('.lq-reaction').first().waitFor()
      await page.locator('.lq-composer textarea').fill('An own one.')
      await page.locator('.lq-composer textarea').press('Enter')
      await page.locator('.lq-message .lq-status', { hasText: 'Sent' }).last().waitFor()
      await app.as('ben').conversations.markUserRead('amira', {})
      await page.locator('.lq-message .lq-status[data-read]').last().waitFor()
    })
    console.log(
      `${held} messages, ${rows} rows, longest task ${longest.toFixed(1)} ms of CPU, ` +
        `down ${down.toFixed(1)} ms, with news ${news.toFixed(1)} ms; ${seen} seen on the way down, moved by ${moved} px`,
    )
    // Blocking a user makes the client fetch everything again, and of a large room only a part: the one in sight.
    await app.client.blockedUsers.block('amira', { blockedUids: ['cleo'] })
    await until('the room was fetched again', () =>
      page.evaluate(`client.state.rooms['${ROOM}'].messages.length < ${LENGTH}`),
    )
    assert.equal(await page.evaluate(`client.state.rooms['${ROOM}'].newer`), false)
    await page.locator('.lq-message', { hasText: 'An own one.' }).waitFor()
    assert.ok(seen > 300 && moved <= 1, `moved by ${moved} px among ${seen}`)
    assert.ok(rows < 80, `${rows} rows`)
    assertWithin(TASK_MS, Math.max(longest, news), 'the longest task')
    await page.context().close()
  })

  test('jumps to a quoted message far above, loads newer ones without moving, and counts news', async () => {
    const app = await companyOf(kit.server)
    const first = await say(app, 'amira', 'ben', 'The first one.')
    await addHistory(app, first, 400)
    const { data } = await app.client.onBehalfOf('amira').messages.listUser('ben', {
      ...{ limit: 1, affix: 'append', searchKey: 'no 280' },
    })
    const far = data[0]?.id ?? assert.fail('no message')
    await say(app, 'ben', 'amira', 'Look at this', { quotedMessageId: far })
    const page = await kit.open(app, 'amira')
    await openBen(page)
    await page.locator('.lq-quoted').click()
    // It stays highlighted only for a moment, so look at its place.
    const target = page
      .locator('.lq-message', { hasText: 'no 280 ' })
      .filter({ hasNot: page.locator('.lq-quoted') })
    await until('it is in sight', async () => {
      const box = await target.boundingBox()
      return box !== null && box.y > 60 && box.y < 740
    })
    await until('newer messages are loaded', async () => {
      await page.mouse.move(640, 400)
      await page.mouse.wheel(0, 600)
      return page.evaluate(`client.state.rooms['${ROOM}'].newer === false`)
    })
    // Of the wheel's events, some may still be on their way.
    await page.mouse.wheel(0, -2_000)
    await until('it is away from its end', async () => !(await page.evaluate(AT_END)))
    // The last page is not news: the list doesn't run to its end.
    await page.getByRole('button', { name: 'Jump to the latest message' }).waitFor()
    await say(app, 'ben', 'amira', 'Are you there?')
    await page.getByRole('button', { name: '1 new message' }).click()
    await page.locator('.lq-message', { hasText: 'Are you there?' }).waitFor()
    await until('it is read', async () => {
      const { unreadMessageCount } = await app.client
        .onBehalfOf('amira')
        .conversations.getUser('ben')
      return unreadMessageCount === 0
    })
    await page.context().close()
  })

  test('says that the connection is lost, and catches up', async () => {
    const app = await companyOf(kit.server)
    await say(app, 'ben', 'amira', 'Before')
    const page = await kit.open(app, 'amira')
    await openBen(page)
    const field = page.locator('.lq-composer textarea')
    await field.fill('Sent')
    await field.press('Enter')
    await page.locator('.lq-message .lq-status', { hasText: 'Sent' }).waitFor()
    kit.network().cut()
    await page.locator('.lq-connection').waitFor()
    await field.fill('Meanwhile')
    await field.press('Enter')
    await page.locator('.lq-message[data-pending]', { hasText: 'Meanwhile' }).waitFor()
    await say(app, 'ben', 'amira', 'After')
    if (LONG) await new Promise((resolve) => setTimeout(resolve, 10_000)) // the duration is what this tests
    kit.network().mend()
    await page.locator('.lq-message', { hasText: 'After' }).waitFor()
    await page.locator('.lq-message:not([data-pending])', { hasText: 'Meanwhile' }).waitFor()
    await page.locator('.lq-connection').waitFor({ state: 'detached' })
    assert.equal(await page.locator('.lq-message').count(), 4)
    await page.context().close()
  })
})

const AT_END = `(() => {
  const { scrollTop, clientHeight, scrollHeight } = document.querySelector('.lq-scroller')
  return scrollHeight - scrollTop - clientHeight < 2
})()`
