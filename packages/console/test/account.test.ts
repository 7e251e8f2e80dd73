/** Operators in the console, in a real browser: sessions, one-time codes and invitations. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { stepOf, totpCode } from '../../server/src/platform/secrets/totp.ts'
import { join, newOperator, type TestOperator } from '../../server/test/operators.ts'
import { useConsole } from './browser.ts'

const { server, address, open } = await useConsole()

const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in' })

async function signIn(page: Page, { email, password }: TestOperator) {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await signInButton(page).click()
}

/** Whatever closes other dialogs. */
async function tryToClose(page: Page) {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Done' }).press('Escape')
  await page.mouse.click(5, 5)
  assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0)
}

suite('a session that has ended', () => {
  test('leaves nothing for the next operator of the window', async () => {
    const [app, first, second] = [
      await server.newApp(),
      await newOperator(server),
      await newOperator(server),
    ]
    await join(server, app, first, 'owner')
    const page = await open(first)
    await page.goto(`${address}#/apps/${app.id}`)
    await page.getByText(app.apiKey).first().waitFor()
    // The page asks again by itself, and is refused.
    await first.client.sessions.end()
    await signInButton(page).waitFor()
    await signIn(page, second)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.getByRole('alert').waitFor()
    assert.equal(await page.getByText(app.apiKey).count(), 0)
    await page.context().close()
  })

  test('is noticed when a form is sent', async () => {
    const operator = await newOperator(server)
    const page = await open(operator)
    await page.goto(`${address}#/account`)
    await page.getByLabel('Your name').fill('Rui II')
    await page.getByText('This one').waitFor()
    await operator.client.sessions.end()
    await page.getByRole('button', { name: 'Save' }).click()
    await signInButton(page).waitFor()
    await page.context().close()
  })
})

suite('one-time codes', () => {
  test('are switched on, and asked for; the recovery codes stay until they were taken', async () => {
    const operator = await newOperator(server)
    const page = await open(operator)
    const dialog = page.getByRole('dialog')
    await page.goto(`${address}#/account`)
    await page.getByRole('button', { name: 'Switch on' }).click()
    await dialog.getByLabel('Password').fill(operator.password)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    const secret = await dialog.locator('.copyable code').innerText()
    const step = stepOf(Date.now())
    await dialog.getByLabel('One-time code').fill(spaced(totpCode(secret, step)))
    await dialog.getByRole('button', { name: 'Switch on' }).click()
    await tryToClose(page)
    // The page knows already, with the codes in front of it.
    await page.getByText('On', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await signIn(page, operator)
    // Each code works once.
    const next = Math.max(step + 1, stepOf(Date.now()))
    await page.getByLabel('One-time code').fill(spaced(totpCode(secret, next)))
    await signInButton(page).click()
    await page.getByText('No app yet').waitFor()
    await page.context().close()
  })
})

suite('keys for programs', () => {
  test('are made with the password once more, and end with it where that is wanted', async () => {
    const operator = await newOperator(server)
    const page = await open(operator)
    const dialog = page.getByRole('dialog')
    await page.goto(`${address}#/account`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByLabel('Name').fill('Deployment')
    await dialog.getByLabel('Password').fill('not the password')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Password').fill(operator.password)
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Deployment').waitFor()

    await page.getByLabel('Current password').fill(operator.password)
    await page.getByLabel('New password').fill('another password')
    await page.getByLabel('Delete my keys').check()
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Deployment').waitFor({ state: 'detached' })
    assert.deepEqual((await operator.client.keys.list()).data, [])
    await page.context().close()
  })
})

/** As authenticator apps show it. */
const spaced = (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`

suite('an invitation', () => {
  test('is a new link when the role changes, by which a new operator joins', async () => {
    const [app, operator] = [await server.newApp(), await newOperator(server)]
    await join(server, app, operator, 'owner')
    const page = await open(operator)
    const dialog = page.getByRole('dialog')
    const takeLink = async () => {
      await tryToClose(page)
      const link = await dialog.getByLabel('Link', { exact: true }).innerText()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await dialog.waitFor({ state: 'detached' })
      return link
    }
    await page.goto(`${address}#/apps/${app.id}/team`)
    await page.getByRole('button', { name: 'Add somebody' }).click()
    await dialog.getByLabel('E-mail').fill('ines@clinic.example')
    await dialog.getByRole('button', { name: 'Add' }).click()
    const before = await takeLink()
    await page.getByRole('button', { name: 'Change role of ines@clinic.example' }).click()
    await dialog.getByLabel('Role').selectOption('moderator')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const link = await takeLink()
    assert.notEqual(link, before)

    const theirs = await open()
    await theirs.goto(link)
    assert.equal(await theirs.getByLabel('E-mail').inputValue(), 'ines@clinic.example')
    await theirs.getByLabel('Your name').fill('Inés')
    await theirs.getByLabel('Password').fill('a long password')
    await theirs.getByRole('button', { name: 'Create account' }).click()
    const card = theirs.getByRole('listitem').filter({ hasText: app.id })
    await card.getByText('moderator').waitFor()
    await theirs.context().close()
    await page.reload()
    await page.getByText('Inés').waitFor()
    await page.context().close()
  })
})
