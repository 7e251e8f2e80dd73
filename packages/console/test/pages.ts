/** Every page of the console: pictures, axe and hostile data go through this one list. */
import type { Page } from 'playwright-core'

/** What addresses name. */
export interface Ids {
  appId: string
  uid: string
  guid: string
  webhookId: string
}

export interface ConsolePage {
  /** Of the picture. */
  name: string
  /** Behind the hash. */
  path: (ids: Ids) => string
  /** A text that stands there once all of it does, with the data of story.ts. */
  shows: string
  /** What is done before it is looked at. */
  act?: (page: Page) => Promise<void>
  /** Whether somebody has signed in; true unless given. */
  signedIn?: boolean
  /** Shows nothing that users of an app have written. */
  own?: boolean
  /** What stands there with the data of hostile.ts; its markup as text unless given. */
  hostile?: string
}

const hook = ({ appId, webhookId }: Ids) => `/apps/${appId}/webhooks/${webhookId}`
const ofApp =
  (path: string) =>
  ({ appId }: Ids) =>
    `/apps/${appId}${path}`

/** Opens the first row of the table in sight. */
const openRow = async (page: Page) => {
  await page.getByRole('grid').getByRole('rowheader').first().click()
  await page.getByRole('dialog').waitFor()
}

/** Opens the first conversation of the list. */
const openFirst = async (page: Page) => {
  await page.getByRole('option').first().click()
  await page.getByRole('log').waitFor()
}

export const pages: ConsolePage[] = [
  { name: 'sign-in', path: () => '/', shows: 'Password', signedIn: false, own: true },
  { name: 'sign-up', path: () => '/sign-up', shows: 'Invitation', signedIn: false, own: true },
  { name: 'apps', path: () => '/', shows: 'Clinic chat' },
  { name: 'app', path: ofApp(''), shows: 'curl' },
  { name: 'usage', path: ofApp('/usage'), shows: 'different users', own: true },
  { name: 'users', path: ofApp('/users'), shows: 'Amira Haddad' },
  { name: 'user', path: (ids) => ofApp(`/users/${ids.uid}`)(ids), shows: 'Amira Haddad' },
  { name: 'groups', path: ofApp('/groups'), shows: 'Night shift' },
  { name: 'group', path: (ids) => ofApp(`/groups/${ids.guid}`)(ids), shows: 'Ward 3' },
  { name: 'conversations', path: ofApp('/conversations'), shows: 'Ward 3', act: openFirst },
  { name: 'keys', path: ofApp('/keys'), shows: 'Ward tablets' },
  { name: 'webhooks', path: ofApp('/webhooks'), shows: 'Archive' },
  { name: 'webhook', path: hook, shows: 'message.sent', hostile: 'message.sent' },
  { name: 'delivery', path: hook, shows: 'message.sent', hostile: 'message.sent', act: openRow },
  { name: 'webhook-settings', path: (ids) => `${hook(ids)}?tab=settings`, shows: 'Called for' },
  { name: 'team', path: ofApp('/team'), shows: 'Invited', hostile: 'onload=' },
  { name: 'audit', path: ofApp('/audit'), shows: 'updateApp', hostile: 'updateApp' },
  {
    name: 'audit-entry',
    path: ofApp('/audit'),
    shows: 'updateApp',
    hostile: 'updateApp',
    act: openRow,
  },
  { name: 'settings', path: ofApp('/settings'), shows: 'Requests a minute' },
  { name: 'account', path: () => '/account', shows: 'Keys for programs', own: true },
]

/** Opens a page in a window, and waits until it stands. */
export async function show(
  window: Page,
  address: string,
  { path, act }: ConsolePage,
  ids: Ids,
  text: string,
): Promise<void> {
  await window.goto('about:blank')
  await window.goto(`${address}#${path(ids)}`)
  await window.getByText(text).filter({ visible: true }).first().waitFor()
  await act?.(window)
}
