/** Every page of the console: pictures, axe and hostile data go through this one list. */
import type { Page } from 'playwright-core'

/** What addresses name. */
export interface Ids {
  appId: string
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
}

export const pages: ConsolePage[] = [
  { name: 'sign-in', path: () => '/', shows: 'Password', signedIn: false, own: true },
  { name: 'apps', path: () => '/', shows: 'Clinic chat' },
  { name: 'app', path: ({ appId }) => `/apps/${appId}`, shows: 'curl' },
  { name: 'keys', path: ({ appId }) => `/apps/${appId}/keys`, shows: 'Ward tablets' },
  { name: 'users', path: ({ appId }) => `/apps/${appId}/users`, shows: 'Amira Haddad' },
]

/** Opens a page in a window, and waits until it stands. */
export async function show(
  window: Page,
  address: string,
  { path, shows, act, own }: ConsolePage,
  ids: Ids,
  text = shows,
): Promise<void> {
  await window.goto('about:blank')
  await window.goto(`${address}#${path(ids)}`)
  await window
    .getByText(own ? shows : text)
    .first()
    .waitFor()
  await act?.(window)
}
