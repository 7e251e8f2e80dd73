/** Answers of agents in a real browser, streamed by a real model server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { TestApp } from '../../server/test/kit.ts'
import {
  type ModelCall,
  type ModelReply,
  questionIn,
  resultsIn,
  useModelServer,
} from '../../server/test/model-server.ts'
import { useToolServer } from '../../server/test/tool-server.ts'
import { until } from '../../server/test/until.ts'
import { findings } from './axe.ts'
import { say } from './data.ts'
import { message, newKit, openRoom, shoot, shootLooks, write } from './page.ts'

const kit = await newKit({ LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' })
let reply: (call: ModelCall) => ModelReply = () => ['Hello!']
const models = useModelServer((call) => reply(call))
const tools = useToolServer((_, response) => response.end('booked'))
const bookings = (day: string) => tools.requests.filter(({ body }) => body.includes(day))

async function newAgent(parts: object = {}): Promise<{ app: TestApp; agent: string }> {
  const app = await kit.server.newApp()
  await app.client.users.create({ uid: 'amira', name: 'Amira Haddad' })
  const { url, key } = models
  await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
  const parameters = [{ key: 'day', type: 'string' as const, required: true }]
  await app.client.apiTools.create({
    ...{ slug: 'book', name: 'Book a room', description: 'Books', endpoint: tools.url },
    ...{ method: 'POST', enableBasicAuth: false, requiresApproval: true, parameters },
  })
  await app.client.apiTools.create({
    ...{ slug: 'look', name: 'Look it up', description: 'Looks', endpoint: tools.url },
    ...{ method: 'GET', enableBasicAuth: false, requiresApproval: true, parameters },
  })
  await app.client.frontendActions.create({
    ...{ triggerFunction: 'openShift', name: 'Open a shift', description: 'Opens', parameters },
  })
  const { uid: agent } = await app.client.agents.create({
    ...{ name: 'Helper', providerId: 'house', ...parts },
  })
  return { app, agent }
}

const MARKDOWN = [
  '## Three ways\n\n',
  '1. The **first** one, with `code`\n',
  '2. <b>HTML</b> and [a trap](javascript:alert(1))\n',
  '3. A [link](https://example.org/a)\n\n',
  '| Day | Open |\n| --- | --- |\n| Monday | 9:00 |\n\n',
]

const SCROLLER = `document.querySelector('.lq-scroller')`
const AWAY_FROM_START = `${SCROLLER}.scrollTop > 0`
const AT_END = `${SCROLLER}.scrollHeight - ${SCROLLER}.scrollTop - ${SCROLLER}.clientHeight < 60`

suite('an answer', () => {
  test('is shown while it is written, also after the page was loaded again', async () => {
    const { app, agent } = await newAgent()
    await say(app, 'amira', agent, 'Hello?')
    const page = await kit.open(app, 'amira', { height: 560 })
    await openRoom(page, /^Helper/)
    await message(page, 'Hello!').locator('.lq-agent').first().waitFor()

    const [stored, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isStored = false
    void stored.promise.then(() => {
      isStored = true
    })
    reply = async function* () {
      yield* MARKDOWN
      // The worker stores the text about once a second, while pieces arrive.
      for (let nth = 0; !isStored; nth++) {
        yield `word${nth} `
        await pause(50)
      }
      await ended.promise
      yield 'The end.'
    }
    await write(page, 'Explain it')
    const answer = message(page, 'Three ways')
    await answer.locator('.lq-answer[data-writing] strong', { hasText: 'first' }).waitFor()
    await answer.getByRole('button', { name: 'Stop answering' }).waitFor()
    await until('the text is stored', async () => {
      const { data } = await app.client.agentRuns.list({ state: 'running' })
      const run = data[0] && (await app.client.agentRuns.get(data[0].id))
      return run?.text?.includes('word1 ')
    })
    stored.resolve()
    // The list has followed the text, which is higher than the window.
    assert.ok(await page.evaluate(AWAY_FROM_START))
    await until('the end is in sight', () => page.evaluate(AT_END))

    // Nothing arrives any more until the end, so all that is shown comes from the run.
    await page.reload()
    await openRoom(page, /^Helper/)
    await answer.getByText('word1 ').waitFor()
    await answer.locator('td', { hasText: '9:00' }).waitFor()
    assert.deepEqual(await findings(page), [])
    await shoot(page, 'answer')
    ended.resolve()
    await answer.getByText('The end.').waitFor()
    await answer.locator('[data-writing]').waitFor({ state: 'detached' })
    await answer.getByText('<b>HTML</b> and [a trap](javascript:alert(1))').waitFor()
    assert.equal(await answer.locator('a').count(), 1)
    assert.equal(await answer.locator('a').getAttribute('href'), 'https://example.org/a')
    assert.equal(await page.locator('.lq-answer').count(), 2)

    // A question in the thread gets its answer there.
    reply = () => ['More about it.']
    await answer.getByRole('button', { name: 'Ask a follow-up question' }).click()
    const thread = page.locator('.lq-thread')
    await thread.locator('.lq-answer', { hasText: 'The end.' }).waitFor()
    await thread.locator('textarea').fill('And then?')
    await thread.locator('textarea').press('Enter')
    await thread.locator('.lq-answer', { hasText: 'More about it.' }).waitFor()
    const question = message(page, 'Explain it')
    await question.getByRole('button', { name: /3 replies/ }).waitFor()
    // Seen in the thread, it isn't unread in the list.
    await page.locator('.lq-badge').waitFor({ state: 'detached' })
    await shoot(page, 'answer-thread')
    await page.context().close()
  })

  test('can be stopped, and tried again after that and after an error', async () => {
    const { app, agent } = await newAgent()
    await say(app, 'amira', agent, 'Hello?')
    const page = await kit.open(app, 'amira', { width: 390, height: 800, layout: 'messenger' })
    await openRoom(page, /^Helper/)
    const never = Promise.withResolvers<void>()
    reply = async function* () {
      yield 'It begins'
      await never.promise
    }
    await write(page, 'Tell me everything')
    const answer = message(page, 'It begins')
    await answer.getByRole('button', { name: 'Stop answering' }).click()
    await answer.getByText('Stopped.').waitFor()
    await until('the model was left', () => models.calls.at(-1)?.left)
    never.resolve()

    reply = () => 400
    await answer.getByRole('button', { name: 'Retry' }).click()
    const failed = page.locator('.lq-message', { hasText: 'The answer failed.' })
    await failed.waitFor()
    await page.reload()
    await openRoom(page, /^Helper/)
    await failed.waitFor()
    await shoot(page, 'answer-failed')
    assert.deepEqual(await findings(page), [])

    reply = () => ['Everything.']
    await failed.getByRole('button', { name: 'Retry' }).click()
    await message(page, 'Everything.').locator('.lq-answer').waitFor()
    await failed.waitFor({ state: 'detached' })

    await app.client.agentBudgets.update({ appMonthTokens: 1 })
    await write(page, 'And then?')
    await page.getByText('This app’s agents have used up their budget for this month.').waitFor()
    await page.context().close()
  })
})

suite('an agent in a group', () => {
  test('answers below the question for all, and asks only the user who asked', async () => {
    const { app, agent } = await newAgent({ answersMentions: true, apiTools: ['look'] })
    await app.client.users.create({ uid: 'ben', name: 'Ben Okafor' })
    const members = { participants: ['ben', agent] }
    const group = { guid: 'release', name: 'Release 2.4', owner: 'amira', members }
    await app.client.groups.create(group)
    const ask = (from: string, text: string) => say(app, from, 'release', `<@uid:${agent}> ${text}`)
    const [amira, ben] = [await kit.open(app, 'amira'), await kit.open(app, 'ben')]
    for (const page of [amira, ben]) await openRoom(page, /^Release/)

    reply = () => ['At nine.']
    await ask('amira', 'When?')
    const isRead = (uid: string) =>
      until(`${uid} has read all`, async () => {
        const { unreadMessageCount } = await app.as(uid).conversations.getGroup('release')
        return unreadMessageCount === 0
      })
    for (const page of [amira, ben]) await message(page, 'At nine.').locator('.lq-agent').waitFor()
    for (const uid of ['amira', 'ben']) await isRead(uid)

    // The answer comes after what others write meanwhile, but stands above it.
    reply = (call) =>
      resultsIn(call).length === 0
        ? [{ tool: 'look', args: { day: 'Monday' } }]
        : [`It says: ${resultsIn(call).join()}.`]
    await ask('amira', 'And on Monday?')
    const asked = (page: Page) => page.getByRole('region', { name: /^Helper wants to use/ })
    await asked(amira).getByText('Helper wants to use Look it up.').waitFor()
    await write(ben, 'I would like to know, too')
    await message(amira, 'I would like to know, too').waitFor()
    await amira.reload()
    await openRoom(amira, /^Release/)
    assert.deepEqual(await findings(amira), [])
    await shootLooks(amira, 'approval-group')
    assert.equal(await asked(ben).count(), 0)
    await asked(amira).getByRole('button', { name: 'Approve' }).click()
    for (const page of [amira, ben]) {
      await message(page, 'It says: booked.').locator('.lq-answer:not([data-writing])').waitFor()
    }
    for (const uid of ['amira', 'ben']) await isRead(uid)
    const order = await ben.locator('.lq-message').allInnerTexts()
    assert.match(order.at(-2) ?? '', /It says: booked/)
    assert.equal(await ben.getByText('Used Look it up').count(), 0)

    const never = Promise.withResolvers<void>()
    reply = async function* () {
      yield 'It begins'
      await never.promise
    }
    await ask('amira', 'Tell me everything')
    await message(amira, 'It begins').getByRole('button', { name: 'Stop answering' }).click()
    await amira.getByText('Stopped.').waitFor()
    never.resolve()
    reply = () => ['Everything.']
    await amira.reload()
    await openRoom(amira, /^Release/)
    const stopped = message(amira, 'Stopped.')
    await stopped.getByText('Helper', { exact: true }).waitFor()
    await stopped.getByRole('button', { name: 'Retry' }).click()
    for (const page of [amira, ben]) await message(page, 'Everything.').waitFor()
    for (const page of [amira, ben]) await page.context().close()
  })
})

suite('a source', () => {
  test('is a chip below the answer, and a mark in it, that open the text', async () => {
    const { app, agent } = await newAgent()
    const { uniqueId } = await app.client.knowledge.createText({
      title: 'House <b>rules</b>',
      text: '# Pool\n\nThe pool opens at noon. <img src=x onerror=alert(1)>',
    })
    await until('the index', async () => {
      const states = await app.client.knowledge.poll({ uniqueId: [uniqueId] })
      return states[uniqueId] === 'indexed'
    })
    await app.client.knowledge.attach(agent, 'text', { uniqueIds: [uniqueId] })
    reply = () => ['The pool opens at **noon [1, 7]**, they say [9].']
    await say(app, 'amira', agent, 'When does the pool open?')
    const page = await kit.open(app, 'amira', { width: 390, height: 800, layout: 'messenger' })
    await openRoom(page, /^Helper/)
    const answer = message(page, 'they say [9].')
    const chip = answer.getByRole('list', { name: 'Sources' }).getByRole('button')
    await chip.waitFor()
    assert.equal(await chip.textContent(), '1 House <b>rules</b>')
    // Only what was cited is a link.
    const marks = answer.locator('.lq-cite')
    assert.deepEqual(await marks.allInnerTexts(), ['1'])
    await answer.getByText('noon 1 [7]').waitFor()
    const dialog = page.getByRole('dialog', { name: 'Source 1: House <b>rules</b>' })
    const text = dialog.getByText('The pool opens at noon. <img src=x onerror=alert(1)>')
    await chip.click()
    await text.waitFor()
    await dialog.getByText('Pool', { exact: true }).waitFor()
    assert.deepEqual(await findings(page), [])
    await shootLooks(page, 'source')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await marks.first().click()
    await text.waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    const other = await kit.open(app, 'amira', { lang: 'ar' })
    await openRoom(other, /^Helper/)
    await other.getByRole('list', { name: 'المصادر' }).getByRole('button').click()
    await other.getByText('The pool opens at noon. <img').waitFor()
    assert.deepEqual(await findings(other), [])
    await shoot(other, 'source-ar')
    await app.client.knowledge.deleteSource(uniqueId)
    await chip.click()
    await dialog.getByText('This source no longer exists.').waitFor()
    for (const one of [page, other]) await one.context().close()
  })
})

suite('a thumb', () => {
  test('rates an answer with a comment, can be changed and taken back', async () => {
    const { app, agent } = await newAgent()
    reply = () => ['At nine.']
    await say(app, 'amira', agent, 'When?')
    const page = await kit.open(app, 'amira', { width: 390, height: 800, layout: 'messenger' })
    await openRoom(page, /^Helper/)
    const answer = message(page, 'At nine.')
    const ratings = async () => (await app.client.agentRatings.list()).data
    const pressed = (name: string) => answer.getByRole('button', { name, pressed: true }).waitFor()
    await answer.getByRole('button', { name: 'Good answer' }).click()
    await pressed('Good answer')
    await answer.getByRole('button', { name: 'Bad answer' }).click()
    await pressed('Bad answer')
    await answer.getByLabel('What do you think of it?').fill('On Sundays, too?')
    assert.deepEqual(await findings(page), [])
    await shootLooks(page, 'rating')
    await answer.getByRole('button', { name: 'Send' }).click()
    await until('the rating is stored', async () => {
      const [rating, ...others] = await ratings()
      const { rating: thumb, comment } = rating ?? {}
      return others.length === 0 && thumb === 'down' && comment === 'On Sundays, too?'
    })
    await page.reload()
    await openRoom(page, /^Helper/)
    await pressed('Bad answer')
    await answer.getByRole('button', { name: 'Change the comment' }).waitFor()
    await answer.getByRole('button', { name: 'Bad answer' }).click()
    await until('it is gone', async () => (await ratings()).length === 0)
    await page.context().close()
  })
})

suite('a handover', () => {
  test('is asked for, taken back, and shown while a person answers', async () => {
    const { app, agent } = await newAgent()
    reply = () => ['At nine.']
    await say(app, 'amira', agent, 'When?')
    const page = await kit.open(app, 'amira', { details: '1' })
    await openRoom(page, /^Helper/)
    const { agentHandovers } = app.client
    await page.getByRole('button', { name: 'Talk to a person' }).click()
    await page.getByText('A person will answer you here.').waitFor()
    await page.getByRole('button', { name: 'Talk to a person' }).waitFor({ state: 'detached' })
    // Agents answer at any time, so it says what they are and not that they are offline.
    assert.equal(await page.getByText('Offline', { exact: true }).count(), 0)
    assert.deepEqual(await findings(page), [])
    await shootLooks(page, 'handover')
    await page.getByRole('button', { name: 'Go on with the agent' }).click()
    await page.getByText('A person will answer you here.').waitFor({ state: 'detached' })

    const answer = message(page, 'At nine.')
    await answer.hover()
    await answer.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Talk to a person' }).click()
    const { id } = await until('it is handed over', async () => {
      const { data } = await agentHandovers.list({ state: 'open' })
      return data[0]
    })
    await agentHandovers.take(id)
    await page.getByText('A person is answering you.').waitFor()
    await page.reload()
    await openRoom(page, /^Helper/)
    await page.getByText('A person is answering you.').waitFor()
    await agentHandovers.answer(id, { text: 'Ana here. At ten.' })
    const person = message(page, 'Ana here. At ten.')
    await person.waitFor()
    // Nobody takes a person for a machine.
    assert.equal(await person.locator('.lq-agent').count(), 0)
    await agentHandovers.close(id)
    await page.getByText('A person is answering you.').waitFor({ state: 'detached' })
    await page.context().close()
  })
})

suite('a tool that an agent wants to use', () => {
  test('is approved or refused by the user, also after the page was loaded again', async () => {
    const { app, agent } = await newAgent({ apiTools: ['book'] })
    reply = () => ['Hello!']
    await say(app, 'amira', agent, 'Hello?')
    const page = await kit.open(app, 'amira')
    await openRoom(page, /^Helper/)
    await message(page, 'Hello!').locator('.lq-answer').waitFor()
    const ended = Promise.withResolvers<void>()
    reply = (call) =>
      resultsIn(call).length === 0
        ? ['Let me see. ', { tool: 'book', args: { day: questionIn(call) } }]
        : answer(resultsIn(call))
    async function* answer(results: string[]) {
      yield `It says: ${results.join()}.`
      await ended.promise
    }

    await write(page, 'Monday')
    const asked = page.getByRole('region', { name: /^Helper wants to use/ })
    await asked.getByText('Helper wants to use Book a room.').waitFor()
    await asked.getByText('Monday', { exact: true }).waitFor()
    assert.deepEqual(await findings(page), [])
    await shootLooks(page, 'approval')
    const other = await kit.open(app, 'amira', { lang: 'ar', layout: 'messenger' })
    await openRoom(other, /^Helper/)
    await other.getByRole('button', { name: 'موافقة' }).waitFor()
    assert.deepEqual(await findings(other), [])
    await shootLooks(other, 'approval-ar')
    await page.reload()
    await openRoom(page, /^Helper/)
    assert.equal(bookings('Monday').length, 0)
    await asked.getByRole('button', { name: 'Approve' }).press('Enter')
    const monday = message(page, 'It says: booked.')
    await monday.getByText('Used ').waitFor()
    await asked.waitFor({ state: 'detached' })
    await other.getByRole('button', { name: 'موافقة' }).waitFor({ state: 'detached' })
    await shootLooks(page, 'tool-used')
    // The text may not be stored yet, but its steps are.
    await page.reload()
    await openRoom(page, /^Helper/)
    const done = page.getByRole('list', { name: 'What the agent has done' })
    await done.getByText('Used Book a room').waitFor()
    ended.resolve()
    await monday.locator('.lq-answer:not([data-writing])').waitFor()
    await monday.getByText('Used Book a room').waitFor()
    assert.equal(bookings('Monday').length, 1)

    await write(page, 'Tuesday')
    await asked.getByRole('button', { name: 'Refuse' }).click()
    await message(page, 'refused').locator('.lq-answer:not([data-writing])').waitFor()
    await message(page, 'refused').getByText('No result from Book a room').waitFor()
    await page.reload()
    await openRoom(page, /^Helper/)
    await monday.getByText('Used Book a room').waitFor()
    await write(page, 'Wednesday')
    await asked.waitFor()
    await page.getByRole('button', { name: 'Stop answering' }).click()
    await page.getByText('Stopped.').waitFor()
    await asked.waitFor({ state: 'detached' })
    assert.equal(bookings('Tuesday').length + bookings('Wednesday').length, 0)
    for (const one of [page, other]) await one.context().close()
  })

  test('is a function of the page', async () => {
    const { app, agent } = await newAgent({ frontendActions: ['openShift'] })
    reply = () => ['Hello!']
    await say(app, 'amira', agent, 'Hello?')
    // The page has parts of its own, too.
    const page = await kit.open(app, 'amira', { parts: '1' })
    await openRoom(page, /^Helper/)
    await message(page, 'Hello!').locator('.lq-answer').waitFor()
    const days = (call: ModelCall) => [questionIn(call), 'Friday']
    reply = (call) => {
      const day = days(call)[resultsIn(call).length]
      if (day !== undefined) return [{ tool: 'openShift', args: { day } }]
      return [`The page says: ${resultsIn(call).join()}`]
    }
    await write(page, 'Monday')
    const monday = message(page, 'The page says: {"opened":"Monday"},{"opened":"Friday"}')
    const used = monday.getByText('Used Open a shift')
    await monday.locator('.own-steps').getByText('2 steps').click()
    await monday.locator('.own-badge').waitFor()
    assert.equal(await page.locator('.lq-agent').count(), 0)
    assert.deepEqual(await used.allInnerTexts(), ['Used Open a shift', 'Used Open a shift'])
    assert.deepEqual(await findings(page), [])
    await shootLooks(page, 'steps')
    const read: string[] = []
    page.on('request', (request) => {
      if (/\/ai-agents\/runs\/[^/?]+$/.test(request.url())) read.push(request.url())
    })
    await page.reload()
    await openRoom(page, /^Helper/)
    await monday.getByText('2 steps').waitFor()
    // The message says it, so a room with many answers reads no runs.
    assert.deepEqual(read, [])
    assert.equal(await used.first().isVisible(), false)
    // Whatever goes wrong, the model is told.
    await write(page, 'Sunday')
    await message(page, 'Nobody works on Sunday.').locator('.lq-answer').waitFor()
    await page.context().close()
  })
})
