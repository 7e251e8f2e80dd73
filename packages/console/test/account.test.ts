/** Operators' accounts in the console, in a real browser: sessions, two-factor authentication, keys and invitations. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { stepOf, totpCode } from '../../server/src/platform/secrets/totp.ts'
import { join, newOperator, type TestOperator } from '../../server/test/operators.ts'
import { useConsole } from './browser.ts'

const { server, address, open } = await useConsole()

const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in' })

async function signIn(page: Page, { email, password }: TestOperator) {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await signInButton(page).click()
}

/** Tries everything that closes other dialogs. */
async function tryToClose(page: Page) {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Done' }).press('Escape')
  await page.mouse.click(5, 5)
  assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0)
}

suite('an ended session', () => {
  test('shows none of its data to the next operator in the same window', async () => {
    const [app, first, second] = [
      await server.newApp(),
      await newOperator(server),
      await newOperator(server),
    ]
    await join(server, app, first, 'owner')
    const page = await open(first)
    await page.goto(`${address}#/apps/${app.id}`)
    await page.getByText(app.apiKey).first().waitFor()
    // The page refetches on its own and finds that the session has ended.
    await first.client.sessions.end()
    await signInButton(page).waitFor()
    await signIn(page, second)
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.getByRole('alert').waitFor()
    assert.equal(await page.getByText(app.apiKey).count(), 0)
    await page.context().close()
  })

  test('shows the sign-in form when the operator submits a form', async () => {
    const operator = await newOperator(server)
    const page = await open(operator)
    await page.goto(`${address}#/account`)
    await page.getByLabel('Your name').fill('Rui II')
    await page.getByText('This device').waitFor()
    await operator.client.sessions.end()
    await page.getByRole('button', { name: 'Save' }).click()
    await signInButton(page).waitFor()
    await page.context().close()
  })
})

suite('two-factor authentication', () => {
  test('shows recovery codes until they are dismissed, and asks for a code at the next sign-in', async () => {
    const operator = await newOperator(server)
    const page = await open(operator)
    const dialog = page.getByRole('dialog')
    await page.goto(`${address}#/account`)
    await page.getByRole('button', { name: 'Turn on' }).click()
    await dialog.getByLabel('Password').fill(operator.password)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    const secret = await dialog.locator('.copyable code').innerText()
    const step = stepOf(Date.now())
    await dialog.getByLabel('One-time code').fill(spaced(totpCode(secret, step)))
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await tryToClose(page)
    // The page behind the dialog already shows the new state.
    await page.getByText('On', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await signIn(page, operator)
    // A code works only once, so use the next one.
    const next = Math.max(step + 1, stepOf(Date.now()))
    await page.getByLabel('One-time code').fill(spaced(totpCode(secret, next)))
    await signInButton(page).click()
    await page.getByText('No apps yet').waitFor()
    await page.context().close()
  })
})

suite('operator keys', () => {
  test('take the password to create, and can be deleted along with a password change', async () => {
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
    await page.getByLabel('Also delete my operator keys').check()
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Deployment').waitFor({ state: 'detached' })
    assert.deepEqual((await operator.client.keys.list()).data, [])
    await page.context().close()
  })
})

/** The code in two groups, as authenticator apps show it. */
const spaced = (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`

suite('an invitation', () => {
  test('gets a new link when the role changes, and a new operator joins with it', async () => {
    const [app, operator] = [await server.newApp(), await newOperator(server)]
    await join(server, app, operator, 'owner')
    const page = await open(operator)
    const dialog = page.getByRole('dialog')
    const copyLink = async () => {
      await tryToClose(page)
      const link = await dialog.getByLabel('Invitation link', { exact: true }).innerText()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await dialog.waitFor({ state: 'detached' })
      return link
    }
    await page.goto(`${address}#/apps/${app.id}/team`)
    await page.getByRole('button', { name: 'Invite a teammate' }).click()
    await dialog.getByLabel('Email').fill('ines@clinic.example')
    await dialog.getByRole('button', { name: 'Invite' }).click()
    const before = await copyLink()
    await page.getByRole('button', { name: 'Change the role of ines@clinic.example' }).click()
    await dialog.getByLabel('Role').selectOption('moderator')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const link = await copyLink()
    assert.notEqual(link, before)

    const theirs = await open()
    await theirs.goto(link)
    assert.equal(await theirs.getByLabel('Email').inputValue(), 'ines@clinic.example')
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
