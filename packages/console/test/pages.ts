/** Every page of the console, for screenshots, accessibility checks and hostile data. */
import type { Page } from 'playwright-core'

/** The ids in the pages' paths. */
export interface Ids {
  appId: string
  uid: string
  guid: string
  webhookId: string
  sessionId: string
  agentUid: string
  runId: string
  /** A run with a replay. */
  replayedId: string
}

export interface ConsolePage {
  /** The name of the screenshot. */
  name: string
  /** The path after the hash. */
  path: (ids: Ids) => string
  /** A text that is visible once the page has loaded, with the data of demo-app.ts. */
  shows: string
  /** Done before the page is checked. */
  act?: (page: Page) => Promise<void>
  /** Whether an operator is signed in. Defaults to true. */
  signedIn?: boolean
  /** Whether the page shows no data of the app's users. */
  own?: boolean
  /** The text to wait for with the data of hostile.ts. Defaults to its script as text. */
  hostile?: string
}

const hook = ({ appId, webhookId }: Ids) => `/apps/${appId}/webhooks/${webhookId}`
const ofApp =
  (path: string) =>
  ({ appId }: Ids) =>
    `/apps/${appId}${path}`

/** Opens the first row of the table. */
const openRow = async (page: Page) => {
  await page.getByRole('grid').getByRole('rowheader').first().click()
  await page.getByRole('dialog').waitFor()
}

/** Asks why the first user may send a message. */
const explain = async (page: Page) => {
  await page.getByRole('button', { name: "Why can't a user" }).click()
  await page.getByLabel('User', { exact: true }).fill('u1')
  await page.getByRole('button', { name: 'Explain' }).click()
}

/** Types a text that a rule blocks. */
const testText = async (page: Page) => {
  await page.getByLabel('Try a text').fill('The d1agnosis is here')
  await page
    .getByText(/^found|Nothing found|Blocked/)
    .first()
    .waitFor()
}

/** Opens the first rule, and tries it. */
const editRule = async (page: Page) => {
  await page.getByRole('button', { name: 'Edit' }).first().click()
  await page.getByRole('dialog').getByLabel('Try a text').fill('The díagnosis is here')
  await page
    .getByRole('dialog')
    .getByText(/Nothing found|Blocked/)
    .first()
    .waitFor()
}

/** Previews the first rule on the messages of the demo. */
const previewRule = async (page: Page) => {
  await page.getByRole('button', { name: 'Edit' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Words', { exact: true }).first().fill('the\nare')
  await dialog.getByRole('button', { name: 'Run preview' }).click()
  const again = dialog.getByRole('button', { name: 'Run again' })
  await again.and(page.locator(':enabled')).waitFor()
  await dialog.getByText(/would have been blocked/).scrollIntoViewIfNeeded()
}

/** Opens the first conversation in the list. */
const openFirst = async (page: Page) => {
  await page.getByRole('option').first().click()
  await page.getByRole('log').waitFor()
}

/** Sends a test to a user without a device. */
const sendTest = async (page: Page) => {
  await page.getByRole('button', { name: 'Send test' }).first().click()
  await page.getByLabel('User', { exact: true }).fill('u1')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('This user has no device').waitFor()
}

/** Changes a text, and looks at the preview. */
const previewTemplate = async (page: Page) => {
  await page.getByLabel('Title in groups').fill('{{message.data.entities.receiver.entity.name}} 👋')
  await page.getByText('Ward 3 👋').waitFor()
}

/** Changes the footer of emails, and looks at the preview. */
const designEmail = async (page: Page) => {
  await page.getByLabel('Footer').fill('Clinic, 12 Harbour Street')
  await page.frameLocator('iframe').getByText('Clinic, 12 Harbour Street').waitFor()
}

/** Asks why the receiver of the first message was not notified. */
const explainMessage = async (page: Page) => {
  await openFirst(page)
  await page
    .getByRole('button', { name: /^More actions for message/ })
    .last()
    .click()
  await page.getByRole('menuitem', { name: 'Explain notification' }).click()
  await page.getByLabel('User', { exact: true }).fill('u2')
  await page.getByRole('button', { name: 'Explain' }).click()
  await page
    .getByText(/Not notified|Notified/)
    .first()
    .waitFor()
}

export const pages: ConsolePage[] = [
  { name: 'sign-in', path: () => '/', shows: 'Password', signedIn: false, own: true },
  { name: 'sign-up', path: () => '/sign-up', shows: 'Invitation', signedIn: false, own: true },
  { name: 'apps', path: () => '/', shows: 'Clinic chat' },
  { name: 'tenants', path: () => '/usage', shows: 'Clinic chat' },
  { name: 'app', path: ofApp(''), shows: 'curl' },
  { name: 'usage', path: ofApp('/usage'), shows: 'unique users', own: true },
  { name: 'storage', path: ofApp('/storage'), shows: 'Wrong type' },
  { name: 'users', path: ofApp('/users'), shows: 'Amira Haddad' },
  { name: 'user', path: (ids) => ofApp(`/users/${ids.uid}`)(ids), shows: 'Amira Haddad' },
  {
    name: 'erasure',
    path: ofApp('/users/former?tab=erasure'),
    shows: 'Receipt of the erasure',
    own: true,
    act: (page) => page.getByRole('table').waitFor(),
  },
  { name: 'groups', path: ofApp('/groups'), shows: 'Night shift' },
  { name: 'group', path: (ids) => ofApp(`/groups/${ids.guid}`)(ids), shows: 'Ward 3' },
  {
    name: 'group-permissions',
    path: (ids) => ofApp(`/groups/${ids.guid}?tab=permissions`)(ids),
    shows: 'Reply in threads',
    own: true,
  },
  { name: 'roles', path: ofApp('/roles'), shows: 'Ward nurse' },
  { name: 'role', path: ofApp('/roles/nurse'), shows: 'Message types', own: true },
  {
    name: 'role-restrictions',
    path: ofApp('/roles/nurse?tab=restrictions'),
    shows: 'Start calls',
    own: true,
  },
  { name: 'explain', path: ofApp('/roles'), shows: 'Ward nurse', act: explain },
  { name: 'conversations', path: ofApp('/conversations'), shows: 'Ward 3', act: openFirst },
  { name: 'calls', path: ofApp('/calls'), shows: 'Hiro Tanaka' },
  { name: 'call', path: (ids) => ofApp(`/calls/${ids.sessionId}`)(ids), shows: 'Going on now' },
  { name: 'agents', path: ofApp('/agents'), shows: 'Front desk' },
  {
    name: 'agent',
    path: (ids) => ofApp(`/agents/${ids.agentUid}`)(ids),
    shows: '@var-custom:ward',
    hostile: '@var-auth:sender.uid',
  },
  {
    name: 'agent-knowledge',
    path: (ids) => ofApp(`/agents/${ids.agentUid}?tab=knowledge`)(ids),
    shows: 'Crawl that one instead',
  },
  {
    name: 'agent-ratings',
    path: (ids) => ofApp(`/agents/${ids.agentUid}?tab=ratings`)(ids),
    shows: 'Which floor?',
  },
  {
    name: 'agent-history',
    path: (ids) => ofApp(`/agents/${ids.agentUid}?tab=history`)(ids),
    shows: 'Answer in three sentences.',
    hostile: 'Revision 1',
  },
  { name: 'agent-tools', path: ofApp('/agents?tab=tools'), shows: 'Ward wiki' },
  {
    name: 'agent-budgets',
    path: ofApp('/agents?tab=budgets'),
    shows: 'Spent this month',
    own: true,
  },
  {
    name: 'agent-models',
    path: ofApp('/agents?tab=models'),
    shows: 'House models',
    own: true,
  },
  { name: 'runs', path: ofApp('/agents?tab=runs'), shows: '陈美玲' },
  { name: 'run', path: (ids) => ofApp(`/agents/runs/${ids.runId}`)(ids), shows: 'Fail, please' },
  {
    name: 'replay',
    path: (ids) => ofApp(`/agents/runs/${ids.replayedId}`)(ids),
    shows: 'Bring your card.',
  },
  { name: 'moderation', path: ofApp('/moderation'), shows: 'No diagnoses', act: testText },
  { name: 'rule', path: ofApp('/moderation'), shows: 'No diagnoses', act: editRule },
  { name: 'rule-preview', path: ofApp('/moderation'), shows: 'No diagnoses', act: previewRule },
  { name: 'lists', path: ofApp('/moderation?tab=lists'), shows: 'Ward slang' },
  { name: 'reasons', path: ofApp('/moderation?tab=reasons'), shows: 'Off topic' },
  { name: 'sanctions', path: ofApp('/moderation?tab=sanctions'), shows: 'Mute or ban' },
  {
    name: 'figures',
    path: ofApp('/moderation?tab=figures'),
    shows: 'blocked in 30 days',
    hostile: 'blocked in 30 days',
  },
  { name: 'checks', path: ofApp('/checks'), shows: 'Own models' },
  { name: 'push-providers', path: ofApp('/notifications'), shows: 'browsers-2026', own: true },
  {
    name: 'send-test',
    path: ofApp('/notifications'),
    shows: 'browsers-2026',
    own: true,
    act: sendTest,
  },
  {
    name: 'notification-preferences',
    path: ofApp('/notifications?tab=preferences'),
    shows: 'Replies in threads',
    own: true,
    act: (page) => page.getByText('Users can choose their own hours').scrollIntoViewIfNeeded(),
  },
  {
    name: 'templates',
    path: ofApp('/notifications?tab=templates'),
    shows: 'Title in groups',
    own: true,
    act: previewTemplate,
  },
  {
    name: 'mail-providers',
    path: ofApp('/notifications'),
    shows: 'mail.clinic.example',
    own: true,
    act: (page) => page.getByText('SMS with Twilio').scrollIntoViewIfNeeded(),
  },
  {
    name: 'email-design',
    path: ofApp('/notifications?tab=email-design'),
    shows: 'Color of the button',
    hostile: 'Color of the button',
    act: designEmail,
  },
  {
    name: 'suppressions',
    path: ofApp('/notifications?tab=suppressions'),
    shows: 'Complained',
    own: true,
  },
  {
    name: 'notification-log',
    path: ofApp('/notifications?tab=log'),
    shows: 'Not notified',
    hostile: 'Not notified',
  },
  {
    name: 'notification',
    path: ofApp('/notifications?tab=log'),
    shows: 'Not notified',
    hostile: 'Not notified',
    act: openRow,
  },
  {
    name: 'explain-notification',
    path: ofApp('/conversations'),
    shows: 'Ward 3',
    own: true,
    act: explainMessage,
  },
  { name: 'transfer', path: ofApp('/transfer'), shows: 'Checked', own: true },
  {
    name: 'import',
    path: ofApp('/transfer'),
    shows: 'Checked',
    own: true,
    act: async (page) => {
      await openRow(page)
      await page.getByText('2 lines were refused').waitFor()
    },
  },
  { name: 'inbox', path: ofApp('/inbox'), shows: 'I want to talk to a doctor.' },
  { name: 'review', path: ofApp('/review'), shows: 'Approve' },
  { name: 'keys', path: ofApp('/keys'), shows: 'Ward tablets' },
  { name: 'webhooks', path: ofApp('/webhooks'), shows: 'Archive' },
  { name: 'webhook', path: hook, shows: 'message.sent', hostile: 'message.sent' },
  { name: 'delivery', path: hook, shows: 'message.sent', hostile: 'message.sent', act: openRow },
  { name: 'webhook-settings', path: (ids) => `${hook(ids)}?tab=settings`, shows: 'Triggers' },
  { name: 'team', path: ofApp('/team'), shows: 'Invited', hostile: 'onload=' },
  { name: 'jobs', path: ofApp('/jobs'), shows: 'groups.sweep', hostile: 'groups.sweep' },
  {
    name: 'job',
    path: ofApp('/jobs'),
    shows: 'groups.sweep',
    act: openRow,
  },
  { name: 'audit', path: ofApp('/audit'), shows: 'updateApp', hostile: 'updateApp' },
  {
    name: 'audit-entry',
    path: ofApp('/audit'),
    shows: 'updateApp',
    hostile: 'updateApp',
    act: openRow,
  },
  { name: 'settings', path: ofApp('/settings'), shows: 'Rate limits' },
  { name: 'account', path: () => '/account', shows: 'Operator keys', own: true },
]

/** Opens a page in a window and waits until it shows the text. */
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
