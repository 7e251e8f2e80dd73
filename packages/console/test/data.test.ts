/** Users, groups, conversations and webhooks in the console, in a real browser. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestApp } from '../../server/test/kit.ts'
import { rows } from '../../server/test/log-writers.ts'
import { phonePhoto, wav } from '../../server/test/media.ts'
import { useModelServer } from '../../server/test/model-server.ts'
import { join, newOperator } from '../../server/test/operators.ts'
import { html, openSite } from '../../server/test/site.ts'
import { until } from '../../server/test/until.ts'
import { readyFile, withFiles } from '../../server/test/upload.ts'
import { toasted, useConsole } from './browser.ts'

const { server, address, open } = await useConsole()

/** Opens a page of a new app with some users. */
async function start(
  path: string,
  users = ['amira', 'ben'],
): Promise<{ app: TestApp; page: Page }> {
  const [app, operator] = [await server.newApp(), await newOperator(server)]
  await join(server, app, operator, 'owner')
  for (const uid of users) await app.client.users.create({ uid, name: `The ${uid}` })
  const page = await open(operator)
  await page.goto(`${address}#/apps/${app.id}${path}`)
  return { app, page }
}

const say = ({ call }: TestApp, from: string, receiver: string, text: string) =>
  call('POST', '/v3/messages', {
    body: { receiver, receiverType: receiver === 'team' ? 'group' : 'user', data: { text } },
    headers: { onbehalfof: from },
  })

suite('files', () => {
  test('of messages are shown, although their paths need a credential', async () => {
    const { app, page } = await start('/conversations')
    const amira = app.as('amira')
    const photo = Buffer.from(await phonePhoto(600, 400))
    const picture = await readyFile(app, amira, photo, { name: 'sea.jpg', mimeType: 'image/jpeg' })
    const sound = await readyFile(app, amira, wav(), { name: 'hi.wav', mimeType: 'audio/wav' })
    await amira.messages.send(withFiles('ben', [picture], { type: 'image' }))
    await amira.messages.send(withFiles('ben', [sound], { type: 'audio' }))
    await page.reload()
    await page.getByRole('option').first().click()
    const image = page.getByRole('img', { name: 'sea.jpg' })
    await image.waitFor()
    await until('the picture is loaded', () =>
      image.evaluate((element) => 'naturalWidth' in element && Number(element.naturalWidth) > 0),
    )
    // Reads the header of the sound, as pressing play does.
    const player = page.getByTitle('hi.wav')
    await player.evaluate((element) => element.setAttribute('preload', 'metadata'))
    await until('the sound can be played', () =>
      player.evaluate((element) => 'duration' in element && element.duration === 1),
    )
    const link = await page.getByRole('link', { name: 'hi.wav' }).getAttribute('href')
    assert.equal((await fetch(link ?? '')).status, 200)
    await page.context().close()
  })

  test('keep their place in a player when their links are renewed', async () => {
    const { app, page } = await start('/conversations')
    const amira = app.as('amira')
    const sound = await readyFile(app, amira, wav(), { name: 'hi.wav', mimeType: 'audio/wav' })
    await amira.messages.send(withFiles('ben', [sound], { type: 'audio' }))
    await page.clock.install()
    let asked = 0
    // The links of each request differ, although the server may sign them within the same second.
    await page.route('**/files/urls', async (route) => {
      const response = await route.fetch()
      const { data } = await response.json()
      asked++
      for (const { links } of data) links.file += `#${asked}`
      await route.fulfill({ response, json: { data } })
    })
    await page.reload()
    await page.getByRole('option').first().click()
    await page.locator('.attached a[href$="#1"]').waitFor()
    const player = `document.querySelector('audio')`
    // The sound has one second; slowly, it lasts until it is paused.
    await page.evaluate(
      `{ ${player}.muted = true; ${player}.playbackRate = 0.0625; ${player}.play() }`,
    )
    await until('it plays', () => page.evaluate(`${player}.currentTime > 0`))
    await page.evaluate(`${player}.pause()`)
    await page.clock.fastForward(250_000)
    await page.locator('.attached a[href$="#2"]').waitFor()
    assert.match(String(await page.evaluate(`${player}.src`)), /#1$/)
    assert.ok(await page.evaluate(`${player}.currentTime > 0`))
    await page.context().close()
  })
})

suite('pictures', () => {
  test('of users are uploaded in the form, and shown', async () => {
    const { app, page } = await start('/users/amira')
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    const photo = Buffer.from(await phonePhoto(600, 400))
    const file = { name: 'me.jpg', mimeType: 'image/jpeg', buffer: photo }
    await dialog.getByLabel('Image for avatar').setInputFiles(file)
    const field = dialog.getByLabel('Avatar', { exact: true })
    await until('it is uploaded', async () => (await field.inputValue()).startsWith('/v3/files/'))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await toasted(page, 'Saved The amira')
    const { avatar = '' } = await app.client.users.get('amira')
    const picture = page.locator(`img[src="${avatar}"]`)
    await until('the picture is loaded', () =>
      picture.evaluate((element) => 'naturalWidth' in element && element.naturalWidth === 256),
    )
    await page.context().close()
  })
})

suite('users', () => {
  test('can be created, found by keyboard, edited, deactivated and deleted', async () => {
    const { app, page } = await start('/users')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Create user' }).click()
    await dialog.getByLabel('UID').fill('cleo')
    await dialog.getByLabel('Name').fill('Cleo')
    await dialog.getByLabel('Metadata').fill('[]')
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await dialog.getByText('must be a JSON object').waitFor()
    await dialog.getByLabel('Metadata').fill('{"ward": 3}')
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await toasted(page, 'Created Cleo')

    await page.getByLabel('Search by name or UID').fill('cle')
    await until(
      'the other users are filtered out',
      async () => (await page.getByRole('row').count()) === 2,
    )
    assert.match(page.url(), /searchKey=cle/)
    await page.getByRole('row', { name: /Cleo/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('"ward"').waitFor()

    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Name').fill('Cleo M.')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Cleo M.' }).waitFor()
    assert.deepEqual((await app.client.users.get('cleo')).metadata, { ward: 3 })
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await dialog.getByLabel(/to confirm/).fill('Cleo M.')
    await dialog.getByRole('button', { name: 'Deactivate user' }).click()
    await page.getByRole('button', { name: 'Reactivate' }).click()
    await page.getByRole('button', { name: 'Deactivate' }).waitFor()

    await page.getByRole('button', { name: 'Delete user' }).click()
    const confirm = dialog.getByRole('button', { name: 'Delete user' })
    assert.ok(await confirm.isDisabled())
    await dialog.getByLabel(/to confirm/).fill('Cleo M.')
    await confirm.click()
    await page.getByRole('row', { name: /The amira/ }).waitFor()
    const left = await app.client.users.list({ withDeactivated: true })
    assert.deepEqual(left.data.map(({ uid }) => uid).sort(), ['amira', 'ben'])
    await page.context().close()
  })

  test('can be deleted even if the name cannot be typed', async () => {
    const { app, page } = await start('/users/odd')
    await app.client.users.create({ uid: 'odd', name: 'Two\n \u200b lines' })
    await page.reload()
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Delete user' }).click()
    await dialog.getByLabel('Type “Two lines” to confirm').fill('Two lines')
    await dialog.getByRole('button', { name: 'Delete user' }).click()
    await page.getByRole('row', { name: /The amira/ }).waitFor()
    await page.context().close()
  })

  test('a long list renders only the visible rows and loads more at its end', async () => {
    const uids = Array.from({ length: 120 }, (_, n) => `u${String(n).padStart(3, '0')}`)
    const { page } = await start('/users', uids)
    const rows = page.getByRole('row')
    await page.getByText('120 users in this app').waitFor()
    await page.getByRole('row', { name: /The u000/ }).focus()
    // Three pages. The end can move on before the test sees where a page ended, and a row that was focused
    // may be replaced when a page arrives.
    await until('u119 is loaded', async () => {
      await rows.last().focus()
      await page.keyboard.press('End')
      assert.ok((await rows.count()) < 45, `${await rows.count()} rows`)
      return (await page.getByRole('row', { name: 'The u119' }).count()) > 0
    })
    await page.context().close()
  })
})

suite('groups', () => {
  test('creating one names users who cannot be added; editing one can return ownership to the app', async () => {
    const { app, page } = await start('/groups')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Create group' }).click()
    await dialog.getByLabel('GUID').fill('team')
    await dialog.getByLabel('Name').fill('Team')
    await dialog.getByLabel('Owner').fill('amira')
    await dialog.getByLabel('Members').fill('ben, nobody')
    await dialog.getByRole('button', { name: 'Create group' }).click()
    await dialog.getByText(/^nobody: /).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row', { name: /Team/ }).click()
    await page.getByRole('row', { name: /The ben/ }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Owner').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await toasted(page, 'Saved Team')
    assert.equal((await app.client.groups.get('team')).owner, 'app_system')
    await page.context().close()
  })

  test('a member can get another scope, and be banned and unbanned', async () => {
    const { app, page } = await start('/groups')
    await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public', owner: 'amira' })
    await page.reload()
    await page.getByRole('row', { name: /Team/ }).click()
    await page.getByRole('button', { name: 'Add members' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('UIDs').fill('ben, nobody')
    await dialog.getByRole('button', { name: 'Add members' }).click()
    await dialog.getByText(/nobody: /).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()

    const ben = page.getByRole('row', { name: /The ben/ })
    const change = async (item: string) => {
      await page.getByRole('button', { name: 'More actions for The ben' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await change('Make moderator')
    await ben.getByText('Moderator').waitFor()
    await change('Ban')
    await ben.waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'Bans' }).click()
    await page.getByRole('button', { name: 'Unban' }).click()
    await page.getByText('No banned users').waitFor()
    assert.equal((await app.client.bannedUsers.list('team')).data.length, 0)
    await page.context().close()
  })
})

suite('agents', () => {
  const models = useModelServer(({ turns }) =>
    turns.at(-1)?.content === 'Fail' ? 400 : ['At ', 'nine.'],
  )

  test('are created with a provider, answer, and their runs show steps, costs and failures', async () => {
    const { app, page } = await start('/agents?tab=models')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Add provider' }).click()
    await dialog.getByLabel('Provider ID').fill('house')
    await dialog.getByLabel('Name').fill('House')
    await dialog.getByLabel('URL').fill(models.url)
    await dialog.getByLabel('API key').fill(models.key)
    await dialog.getByLabel('Read', { exact: true }).fill('2.5')
    await dialog.getByLabel('Written').fill('10')
    await dialog.getByRole('button', { name: 'Add provider' }).click()
    await page.getByText('2.5 read and 10 written').waitFor()

    await page.getByRole('button', { name: 'Create agent' }).click()
    await dialog.getByLabel('Name').fill('Helper')
    await dialog.getByLabel('Provider').selectOption('House')
    await dialog.getByLabel('Model').fill('house-1')
    await dialog.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('heading', { name: 'Helper' }).waitFor()
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Be brief, ')
    await page.getByRole('button', { name: /sender.name/ }).click()
    await page.getByRole('button', { name: 'Save instructions' }).click()
    await toasted(page, 'The next question gets these instructions')

    const uid = decodeURIComponent(/agents\/([^?]+)/.exec(page.url())?.[1] ?? '')
    await app.as('amira').sendText(uid, 'When do you open?')
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByRole('grid').getByText('Finished').click()
    await page.getByText('At nine.').waitFor()
    await page.getByText('cost 0.00').waitFor()
    assert.equal(models.calls.at(-1)?.system, 'Be brief, The amira')
    const [run] = (await app.client.agentRuns.list()).data
    const down = { rating: 'down', comment: 'On Sundays, too?' } as const
    await app.as('amira').agentRatings.set(run?.id ?? '', down)
    await page.goto(`${address}#/apps/${app.id}/agents/${uid}?tab=ratings`)
    await page.getByText('On Sundays, too?').waitFor()
    await page.getByText('0 %').first().waitFor()

    await app.as('ben').sendText(uid, 'Fail')
    await page.goto(`${address}#/apps/${app.id}/agents?tab=runs&state=failed`)
    await page.getByRole('row', { name: /The ben/ }).click()
    const steps = page.getByRole('list', { name: 'Steps' })
    await steps.getByText('The provider refused the call').waitFor()
    models.reply = () => ['Better']
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('The agent answered.').first().waitFor()
    await page.getByText('Better').waitFor()
    await page.context().close()
  })

  test('show what changed, and can be set back', async () => {
    const { app, page } = await start('/agents')
    const { uid } = await app.client.agents.create({ name: 'Helper', instruction: 'Be brief.' })
    await app.client.agents.update(uid, { instruction: 'Shout.' })
    await page.goto(`${address}#/apps/${app.id}/agents/${uid}?tab=history`)
    const field = page.getByRole('region', { name: 'Instructions' })
    await field.locator('.removed', { hasText: 'Be brief.' }).waitFor()
    await field.locator('.added', { hasText: 'Shout.' }).waitFor()
    await page.getByRole('button', { name: 'Revision 1' }).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await toasted(page, 'Restored as revision 3')
    await page.getByText('Restored revision 1').waitFor()
    assert.equal((await app.client.agents.get(uid)).instruction, 'Be brief.')
    await page.context().close()
  })

  test('are asked again with other instructions, and both answers are side by side', async () => {
    const { app, page } = await start('/agents')
    const { url, key } = models
    await app.client.modelProviders.create({ id: 'house', name: 'House', url, key })
    models.reply = ({ system }) => ['At ', system === 'Shout.' ? 'TEN.' : 'nine.']
    const { uid } = await app.client.agents.create({
      ...{ name: 'Helper', providerId: 'house', instruction: 'Be brief.' },
    })
    await app.as('amira').sendText(uid, 'When?')
    const run = await until('the answer', async () => {
      const { data } = await app.client.agentRuns.list()
      return data.find(({ endedAt }) => endedAt)
    })
    await page.goto(`${address}#/apps/${app.id}/agents/runs/${run.id}`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.getByRole('button', { name: 'Start replay' }).click()
    await page.getByText('Steps and answer are the same.').waitFor()
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.getByLabel('How').selectOption('Ask the model again')
    await dialog.getByLabel('Instructions').fill('Shout.')
    await dialog.getByRole('button', { name: 'Start replay' }).click()
    await page.locator('del', { hasText: 'nine.' }).waitFor()
    await page.locator('ins', { hasText: 'TEN.' }).waitFor()
    const field = page.getByRole('region', { name: 'Instructions' })
    await field.locator('.added', { hasText: 'Shout.' }).waitFor()
    assert.equal((await app.client.agents.get(uid)).instruction, 'Be brief.')
    await page.context().close()
  })

  test('say whom they answer, and what they may do as the user who asks', async () => {
    const { app, page } = await start('/agents')
    const { uid } = await app.client.agents.create({ name: 'Helper' })
    await page.goto(`${address}#/apps/${app.id}/agents/${uid}?tab=answers`)
    await page.getByLabel('Mentions in groups').check()
    await page.getByLabel('Hand back to the agent after (minutes)').fill('90')
    await page.getByRole('button', { name: 'Save' }).click()
    await toasted(page, 'Saved Helper')
    await page.getByRole('tab', { name: 'Tools' }).click()
    await page.getByLabel('Search messages').first().check()
    await page.getByLabel('Send messages').first().check()
    await page.getByLabel('Ask before each call of search messages').check()
    await page.getByRole('button', { name: 'Save tools of the service' }).click()
    await toasted(page, 'Saved tools of the service')
    const agent = await app.client.agents.get(uid)
    const { answersMentions, answersAgents, handBackAfterSeconds, serviceTools } = agent
    assert.deepEqual([answersMentions, answersAgents, handBackAfterSeconds], [true, false, 5_400])
    assert.deepEqual(serviceTools, [
      { name: 'search_messages', requiresApproval: true },
      { name: 'send_message', requiresApproval: true },
    ])
    await page.context().close()
  })

  test('know texts, files and websites', async (t) => {
    const { app, page } = await start('/agents')
    const { uid } = await app.client.agents.create({ name: 'Helper' })
    const site = await openSite(t, { '/': html('Pool', 'The pool opens at noon.') })
    await page.goto(`${address}#/apps/${app.id}/agents/${uid}?tab=knowledge`)
    const dialog = page.getByRole('dialog')
    const source = (title: string) => page.getByRole('listitem').filter({ hasText: title })
    const add = async (button: string, submit: string, fill: () => Promise<void>) => {
      await page.getByRole('button', { name: button }).click()
      await fill()
      await dialog.getByRole('button', { name: submit }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await add('Add text', 'Add text', async () => {
      await dialog.getByLabel('Title').fill('Desk')
      await dialog.getByRole('textbox', { name: 'Text', exact: true }).fill('It opens at nine.')
    })
    await source('Desk').getByText('Ready').waitFor()
    const file = { name: 'rules.md', mimeType: '', buffer: Buffer.from('No smoking.') }
    await add('Upload files', 'Upload', () => dialog.locator('input').setInputFiles(file))
    await source('rules.md').getByText('Ready').waitFor()
    await add('Crawl a website', 'Start crawl', () => dialog.getByLabel('URL').fill(site.url))
    const website = source(site.url.slice('http://'.length))
    await website.getByText('1 page, 1 passage').waitFor()
    assert.equal((await app.client.knowledge.search(uid, { query: 'pool' })).length, 1)

    delete site.pages['/']
    await website.getByRole('button', { name: 'Crawl again' }).click()
    await website.getByText("The site doesn't answer, or shows nothing.").waitFor()
    await website.getByRole('button', { name: 'Pages' }).click()
    await dialog.getByText('The page no longer exists.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await source('Desk').getByRole('button', { name: 'Detach' }).click()
    await source('Desk').getByRole('button', { name: 'Attach' }).waitFor()
    assert.deepEqual(await app.client.knowledge.search(uid, { query: 'nine' }), [])
    await page.context().close()
  })

  test('hide how they are built from moderators', async () => {
    const [app, operator] = [await server.newApp(), await newOperator(server)]
    await join(server, app, operator, 'moderator')
    const page = await open(operator)
    await page.goto(`${address}#/apps/${app.id}/agents`)
    await page.getByText('No runs yet').waitFor()
    assert.equal(await page.getByRole('tab').count(), 1)
    assert.equal(await page.getByRole('button', { name: 'Create agent' }).count(), 0)
    await page.context().close()
  })
})

suite('the inbox', () => {
  /** Someone who looks into the inbox of an app. */
  async function person(app: TestApp): Promise<{ email: string; page: Page }> {
    const operator = await newOperator(server)
    await join(server, app, operator, 'moderator')
    const page = await open(operator)
    await page.goto(`${address}#/apps/${app.id}/inbox`)
    return { email: operator.email, page }
  }

  const shown = (page: Page) => page.getByRole('region', { name: 'Conversation' })

  test('lets one of two operators answer as the agent, and hand the conversation back', async () => {
    const app = await server.newApp()
    await app.client.users.create({ uid: 'amira', name: 'The amira' })
    const { uid: agentUid } = await app.client.agents.create({ name: 'Helper' })
    const [ana, rui] = [await person(app), await person(app)]
    await ana.page.getByText('Nobody waits for a person').waitFor()
    const amira = app.as('amira')
    await amira.sendText(agentUid, 'My order is lost')
    const { id } = await amira.agentHandovers.create({ agentUid, reason: 'Wants a person' })
    // Without a reload.
    for (const { page } of [ana, rui]) {
      await page.getByText('My order is lost').waitFor()
      await page.getByRole('link', { name: /^Inbox\s*1/ }).waitFor()
      await page.getByText('Wants a person').last().waitFor()
    }
    // Both press before their page hears of the other.
    const pressed = Promise.withResolvers<void>()
    for (const { page } of [ana, rui]) {
      await page.route(/\/handovers(\?|\/[^/]+$)/, async (route) => {
        await pressed.promise
        await route.continue()
      })
    }
    for (const { page } of [ana, rui]) {
      await page.getByRole('button', { name: 'Take', exact: true }).click()
    }
    pressed.resolve()
    // Otherwise a request that is under way when the page is closed would be an error.
    for (const { page } of [ana, rui]) await page.unrouteAll({ behavior: 'wait' })
    const { takenBy = '' } = await until('one has it', async () => {
      const handover = await app.client.agentHandovers.get(id)
      return handover.state === 'taken' && handover
    })
    const [winner, other] = takenBy === ana.email ? [ana, rui] : [rui, ana]
    assert.equal(takenBy, winner.email)
    await other.page.getByRole('alert').getByText(takenBy).waitFor()
    await shown(other.page).getByText(`${takenBy} answers`).waitFor()
    assert.equal(await other.page.getByLabel('Answer', { exact: true }).count(), 0)

    await winner.page.getByLabel('Answer', { exact: true }).fill('Ana here. We found it.')
    await winner.page.getByLabel('Answer', { exact: true }).press('Enter')
    for (const { page } of [winner, other]) {
      await page.getByRole('log').getByText('Ana here. We found it.').waitFor()
    }
    const sent = await app.waitFor('message.sent', ({ payload }) => {
      return payload.message.data.text === 'Ana here. We found it.'
    })
    assert.deepEqual(
      [sent.payload.message.sender, sent.payload.message.receiver],
      [agentUid, 'amira'],
    )
    await winner.page.getByLabel('Answer', { exact: true }).fill('One more thing')
    await other.page.getByRole('button', { name: 'Take over' }).click()
    await shown(other.page).getByText('You answer').waitFor()
    await other.page.getByLabel('Answer', { exact: true }).waitFor()
    await shown(winner.page).getByText(`${other.email} answers`, { exact: true }).waitFor()
    // What was being written isn't lost.
    const unsent = winner.page.getByText('One more thing')
    await unsent.waitFor()
    await winner.page.getByRole('button', { name: 'Discard' }).click()
    await unsent.waitFor({ state: 'detached' })
    await winner.page.getByRole('button', { name: 'Hand back' }).click()
    for (const { page } of [winner, other]) {
      await shown(page).getByText('The agent answers again').waitFor()
    }
    assert.equal((await app.client.agentHandovers.get(id)).state, 'closed')
    await winner.page.getByRole('tab', { name: 'Handed back' }).click()
    await winner.page.getByRole('button', { name: /The amira/ }).waitFor()
    for (const { page } of [ana, rui]) await page.context().close()
  })
})

suite('calls', () => {
  test('live ones come first, are found by user and status, and show who took part', async () => {
    const { app, page } = await start('/calls', ['amira', 'ben', 'cleo', 'dora'])
    await page.getByText('No calls yet').waitFor()
    const meet = { receiver: 'ben', receiverType: 'user', type: 'video', mode: 'meet' } as const
    const { sessionId } = await app.as('amira').calls.start({ ...meet, deviceId: 'tablet' })
    await app.as('ben').calls.join(sessionId, { deviceId: 'phone' })
    const toDora = { receiver: 'dora', receiverType: 'user', type: 'audio' } as const
    const missed = await app.as('cleo').calls.start(toDora)
    await app.as('dora').calls.reject(missed.sessionId)
    await page.reload()
    const first = page.getByRole('row').nth(1)
    await first.getByText('The amira').waitFor()
    await first.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show each server' }).click()
    const [server = ''] = await page.getByRole('dialog').getByRole('listitem').allInnerTexts()
    assert.match(server, /^media-[0-9a-f]{8}\s+All regions\s+\d calls?\s+Available$/)
    await page.getByRole('button', { name: 'Close' }).click()

    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('User', { exact: true }).fill('dora')
    await page.getByLabel('Status').selectOption('Rejected')
    await page.getByRole('button', { name: 'Apply' }).click()
    // The table keeps its rows until the filtered ones are loaded.
    await page.getByRole('row', { name: /The amira/ }).waitFor({ state: 'detached' })
    await first.getByText('The cleo').waitFor()
    assert.equal(await page.getByRole('row').count(), 2)
    await page.getByRole('button', { name: 'Remove filter: User' }).click()
    await page.getByRole('button', { name: 'Remove filter: Status' }).click()

    await page.getByRole('row', { name: /The amira/ }).click()
    await page.getByText('Going on now').waitFor()
    await page.getByRole('list', { name: 'Timeline' }).getByText('The ben joined').waitFor()
    await app.as('ben').calls.leave(sessionId, { deviceId: 'phone' })
    await page.getByRole('list', { name: 'Timeline' }).getByText('The ben left').waitFor()
    await page.context().close()
  })
})

suite('roles', () => {
  test('a permission can be denied and reset, and the explanation names it', async () => {
    const { app, page } = await start('/roles')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Create role' }).click()
    await dialog.getByLabel('Role ID').fill('guest')
    await dialog.getByLabel('Name').fill('Guest')
    await dialog.getByRole('button', { name: 'Create role' }).click()
    await toasted(page, 'Created Guest')
    await app.client.users.update('ben', { role: 'guest' })

    await page.getByRole('row', { name: /Guest/ }).click()
    await page.getByLabel('Send messages').selectOption('Deny')
    await page.getByRole('group', { name: 'Message types' }).getByLabel('Text').check()
    const panel = page.locator('section', { hasText: 'Sending messages' })
    await panel.getByRole('button', { name: 'Save' }).click()
    await toasted(page, 'Permissions saved')
    const said = app.as('ben').sendText('amira')
    await assert.rejects(said, { code: 'ERR_PERMISSION_DENIED' })

    await page.goto(`${address}#/apps/${app.id}/users/ben`)
    await page.getByRole('button', { name: "Why can't this user…?" }).click()
    await dialog.getByLabel('Other user').fill('amira')
    await dialog.getByRole('button', { name: 'Explain' }).click()
    await dialog.getByText('This rule decided').waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'guest' }).click()
    await page.getByRole('button', { name: 'Reset Send messages' }).click()
    await page.getByText('Send messages: reset to the default').waitFor()
    await until('the message arrives', () =>
      app
        .as('ben')
        .sendText('amira')
        .then(
          () => true,
          () => false,
        ),
    )
    const { data } = await app.client.permissions.listRole('guest', { perPage: 100 })
    const changed = data.filter(({ value }) => value !== null)
    assert.deepEqual(
      changed.map(({ id, value }) => [id, value]),
      [['sendMessage.allowedMessageTypes', ['text']]],
    )
    await page.context().close()
  })

  test('a feature can be restricted and allowed again', async () => {
    const { app, page } = await start('/roles/default?tab=restrictions')
    const save = page.locator('section', { hasText: 'Calls' }).getByRole('button', { name: 'Save' })
    const restricted = async () => (await app.client.restrictedFeatures.list('default')).data
    await page.getByLabel('Start calls').check()
    await save.click()
    await toasted(page, 'Restrictions saved')
    assert.deepEqual(
      (await restricted()).map(({ key }) => key),
      ['u.createCall'],
    )
    await page.getByLabel('Start calls').uncheck()
    await save.click()
    await until('it is allowed', async () => (await restricted()).length === 0)
    await page.context().close()
  })

  test('a scope of a group has permissions of its own', async () => {
    const { app, page } = await start('/roles')
    await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public', owner: 'amira' })
    await app.client.groupMembers.add('team', { participants: ['ben'] })
    await page.goto(`${address}#/apps/${app.id}/groups/team?tab=permissions`)
    await page.getByLabel('Send messages').selectOption('Deny')
    const panel = page.locator('section', { hasText: 'Sending messages' })
    await panel.getByRole('button', { name: 'Save' }).click()
    await toasted(page, 'Permissions saved')
    const said = app.as('ben').sendText('team', 'Hello', { receiverType: 'group' })
    await assert.rejects(said, { code: 'ERR_PERMISSION_DENIED' })
    await page.context().close()
  })
})

suite('conversations', () => {
  test('appear with their first message, and show changes live', async () => {
    const { app, page } = await start('/conversations', ['amira', 'ben', 'cleo'])
    await page.getByText('No conversations yet').waitFor()
    await say(app, 'amira', 'ben', 'The first')
    await page.getByRole('option', { name: /The amira · The ben/ }).click()
    const history = page.getByRole('log')
    await history.getByText('The first').waitFor()
    const startOf = async (text: string) =>
      (await history.getByText(text, { exact: true }).boundingBox())?.x
    assert.equal(await startOf('Sent'), await startOf('The first'), 'they are in line')

    const sent = await say(app, 'ben', 'amira', 'The second')
    const second = history.getByRole('listitem').filter({ hasText: 'The second' })
    await second.waitFor()
    const { id } = (sent.body as { data: { id: string } }).data
    const amira = app.client.onBehalfOf('amira')
    const reply = { receiver: 'ben', receiverType: 'user', data: { text: 'Below' } } as const
    await amira.messages.send({ ...reply, parentMessageId: id })
    await second.getByText('1 reply').waitFor()
    await amira.messages.addReaction(id, '🔥')
    await second.getByText('🔥 1').waitFor()
    await amira.conversations.markUserRead('ben')
    await second.getByText('Read', { exact: true }).waitFor()
    await app.client.onBehalfOf('ben').messages.update(id, { data: { text: 'Another' } })
    await history.getByText('Another').waitFor()
    await say(app, 'cleo', 'ben', 'A third voice')
    await page.getByRole('option', { name: /The cleo · The ben/ }).waitFor()
    await page.context().close()
  })

  test('show edits and deletions in the list too', async () => {
    const { app, page } = await start('/conversations')
    await page.getByText('No conversations yet').waitFor()
    const sent = await say(app, 'amira', 'ben', 'The first')
    const { id } = (sent.body as { data: { id: string } }).data
    const row = page.getByRole('option', { name: /The amira · The ben/ })
    await row.getByText('The first').waitFor()
    await app.client.onBehalfOf('amira').messages.update(id, { data: { text: 'Another' } })
    await row.getByText('Another').waitFor()
    await app.client.messages.delete(id)
    await row.getByText('Deleted').waitFor()
    await page.context().close()
  })

  test('can be found behind thousands of users without a matching conversation', async () => {
    const { app, page } = await start('/conversations', ['zoe', 'zora'])
    await app.client.groups.create({ guid: 'all', name: 'All', type: 'public' })
    // None of these users has a view.
    await rows(
      app.cell.db,
      `insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
       select $1::int, 'u' || n, 'group', one, no, 'participant', now()
       from generate_series(1, 24000) n, conversations where app_no = $1 and kind = 'group'`,
      [app.no],
    )
    await say(app, 'zoe', 'zora', 'Here')
    await page.goto(`${address}#/apps/${app.id}/conversations?searchKey=zora`)
    await page.getByRole('option', { name: /The zora/ }).waitFor()
    await page.context().close()
  })

  test('a message can be sent as a user, viewed as JSON, replied to and deleted', async () => {
    const { app, page } = await start('/conversations?open=group_team')
    await app.client.groups.create({ guid: 'team', name: 'Team', type: 'public', owner: 'amira' })
    await app.client.groupMembers.add('team', { participants: ['ben'] })
    await page.reload()
    const message = page.getByLabel('Message', { exact: true })
    await page.getByLabel('Send as').selectOption('ben')
    await message.fill('Not yet')
    // Enter that accepts the suggestion of an input method in Safari.
    await page.evaluate(`document.querySelector('.composer textarea').dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }),
    )`)
    await message.fill('From here')
    await message.press('Enter')
    const own = page.getByRole('log').getByRole('listitem').filter({ hasText: 'From here' })
    const more = async (item: string) => {
      await own.getByRole('button', { name: /^More/ }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    const dialog = page.getByRole('dialog')
    await own.waitFor()
    assert.equal(await page.getByRole('log').getByText('Not yet').count(), 0)
    await more('View JSON')
    await dialog.getByText('"From here"').waitFor()
    await page.keyboard.press('Escape')
    await more('Open thread')
    await dialog.getByLabel('Message', { exact: true }).fill('Below it')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByRole('listitem').filter({ hasText: 'Below it' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await own.getByText('1 reply').waitFor()
    await more('Delete')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted by app_system').waitFor()
    await page.context().close()
  })
})

suite('moderation', () => {
  test('tries a rule while it is written, and creates it', async () => {
    const { app, page } = await start('/moderation')
    await page.getByRole('button', { name: 'Create rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Rule ID').fill('no-spam')
    await dialog.getByLabel('Name').fill('No spam')
    await dialog.getByLabel('Words', { exact: true }).fill('spam\nfree money')
    await dialog.getByLabel('Try a text').fill('FR33 money!')
    await dialog.getByText('Condition 1 found').waitFor()
    await dialog.getByRole('button', { name: 'Create rule' }).click()
    await page.getByText('The text contains the word spam, free money.').waitFor()
    const { enabled, conditions } = await app.client.moderationRules.get('no-spam')
    assert.deepEqual([enabled, conditions[0]?.value], [true, ['spam', 'free money']])
  })
})

suite('notifications', () => {
  test('a mail server can be added and changed, and keeps its password', async () => {
    const { app, page } = await start('/notifications')
    const panel = page.locator('.panel').filter({ hasText: 'Email over SMTP' })
    await panel.getByRole('button', { name: 'Add provider' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Host').fill('mail.example.org')
    await dialog.getByLabel('Encryption').selectOption('tls')
    await dialog.getByLabel('User name').fill('chat')
    await dialog.getByLabel('Password').fill('password-4321')
    await dialog.getByLabel("Sender's name").fill('Chat')
    await dialog.getByLabel("Sender's address").fill('chat@example.org')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await panel.getByText('mail.example.org:465').waitFor()
    await panel.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel("Sender's name").fill('Ward chat')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await panel.getByText('From Ward chat (chat@example.org)').waitFor()
    const { smtpPassword, smtpSecurity } = await app.client.emailProviders.getSmtp()
    assert.deepEqual([smtpPassword, smtpSecurity], ['****4321', 'tls'])
    await panel.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('User name').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    assert.equal((await app.client.emailProviders.getSmtp()).smtpUsername, '')
  })

  test('an address can be suppressed, found and released', async () => {
    const { app, page } = await start('/notifications?tab=suppressions')
    await page.getByRole('button', { name: 'Suppress address' }).click()
    await page.getByRole('dialog').getByLabel('Email address').fill('ben@example.org')
    await page.getByRole('button', { name: 'Suppress', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Address' }).fill('amira@example.org')
    await page.getByText('Not suppressed').waitFor()
    await page.getByRole('searchbox', { name: 'Address' }).fill('ben@example.org')
    await page.getByRole('row').filter({ hasText: 'ben@example.org' }).click()
    await page.getByRole('button', { name: 'Send to it again' }).click()
    await page.getByText('Not suppressed').waitFor()
    assert.deepEqual((await app.client.suppressions.list()).data, [])
  })

  test('the design of emails is stored with what the preview showed', async () => {
    const { app, page } = await start('/notifications?tab=email-design')
    const email = page.frameLocator('iframe[title="Email"]')
    await page.getByLabel('Name').fill('Ward & <b>chat</b>')
    await email.getByText('Ward & <b>chat</b>', { exact: true }).waitFor()
    await page.getByLabel('Language').selectOption('de')
    await email.getByText('2 neue Nachrichten').first().waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await toasted(page, 'Saved')
    const { appName, language } = (await app.client.notificationSettings.get()).emailDesign
    assert.deepEqual([appName, language], ['Ward & <b>chat</b>', 'de'])
  })
})

suite('review', () => {
  test('is done by keys: read, note, approve, ban', async () => {
    const { app, page } = await start('/review')
    await page.getByText('Nothing to review').waitFor()
    const ids: string[] = []
    for (const text of ['first', 'second']) {
      const { id } = (await say(app, 'amira', 'ben', text)).body.data
      await app.as('ben').messages.flag(id, { reasonId: 'spam', remark: `About the ${text}` })
      ids.push(id)
    }
    await page.reload()
    await page.getByText('About the first').waitFor()
    await page.keyboard.press('j')
    await page.getByText('About the second').waitFor()
    await page.keyboard.press('k')
    await page.getByText('About the first').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Reject and ban the user').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('n')
    await page.keyboard.type('a fine joke')
    await page.keyboard.press('Tab')
    await page.keyboard.press('a')
    await toasted(page, 'Approved')
    await page.getByText('About the second').waitFor()
    await page.keyboard.press('b')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('Spam')
    await dialog.getByRole('button', { name: 'Reject and act' }).click()
    await page.getByText('Nothing to review').waitFor()
    const decided = (await app.events()).filter(({ type }) => type === 'moderation.decided')
    assert.deepEqual(
      decided.map(({ payload: { itemId, decision, note, actions } }) => [
        ...[itemId, decision, note, actions],
      ]),
      [
        [ids[0], 'approve', 'a fine joke', []],
        [ids[1], 'reject', undefined, ['ban']],
      ],
    )
  })

  test('never acts on an item that took the place of a decided one', async () => {
    const { app, page } = await start('/review', ['amira', 'ben', 'cleo'])
    const ids: string[] = []
    for (const uid of ['amira', 'cleo']) {
      const { id } = (await say(app, uid, 'ben', `From ${uid}`)).body.data
      await app.as('ben').messages.flag(id, { reasonId: 'spam', remark: `About ${uid}` })
      ids.push(id)
    }
    await page.reload()
    await page.getByText('About amira').waitFor()
    await page.keyboard.press('b')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Ban The amira' }).waitFor()
    await app.client.reviewItems.decide(ids[0] ?? '', { decision: 'approve' })
    await page.getByText('No longer in the queue').waitFor()
    await dialog.getByRole('button', { name: 'Reject and act' }).click()
    await dialog.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('d')
    await page.getByRole('region', { name: 'Item' }).getByRole('alert').waitFor()
    await page.getByText('About amira').waitFor()
    await page.keyboard.press('j')
    await page.getByText('About cleo').waitFor()
    const left = await app.client.reviewItems.list({})
    assert.deepEqual(
      left.data.map(({ id }) => id),
      [ids[1]],
    )
    await page.context().close()
  })
})

suite('webhooks', () => {
  test('the secret is shown even if saving the triggers fails, and saving can be retried', async () => {
    const { app, page } = await start('/webhooks')
    const refusal = { error: { code: 'ERR_BAD_REQUEST', message: 'Not today.' } }
    await page.route(
      (url) => url.pathname.endsWith('/triggers'),
      (route) => route.fulfill({ status: 400, json: refusal }),
      { times: 1 },
    )
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await dialog.getByLabel('Name', { exact: true }).fill('Archive')
    await dialog.getByLabel('URL').fill('http://127.0.0.1:9/hook')
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await dialog.getByText(/^whsec_/).waitFor()
    await dialog.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
    await dialog.getByRole('alert').waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('No deliveries yet').waitFor()
    const { data } = await app.client.webhooks.list()
    assert.deepEqual(
      data.map(({ triggers }) => triggers),
      [['message_sent']],
    )
    await page.context().close()
  })
})
