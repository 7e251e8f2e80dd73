/** Which links of a page a crawl follows. */

/** How long URLs of pages are at most. */
export const URL_LENGTH = 2_000
/** The most links of a page that are followed. */
const LINKS = 1_000
/** What is never a page. PDF files are visited, so that people see that they aren't read. */
const OTHER_FILES =
  /\.(?:png|jpe?g|gif|webp|avif|svg|ico|mp[34]|m4[av]|ogg|wav|webm|mov|avi|zip|t?gz|7z|rar|exe|dmg|css|m?js|woff2?|ttf)$/i

/** The pages of the same host that a page links to. */
export function linksOf(
  url: string,
  { hrefs, base }: { hrefs: string[]; base: string | undefined },
): string[] {
  const from = (base !== undefined && URL.parse(base, url)?.href) || url
  const links = new Set<string>()
  for (const href of hrefs) {
    const to = URL.parse(href, from)
    if (!to || !isOfSite(url, to) || OTHER_FILES.test(to.pathname)) continue
    to.hash = ''
    if (to.href.length <= URL_LENGTH) links.add(to.href)
    if (links.size === LINKS) break
  }
  return [...links]
}

/** Whether it has the same scheme, host and port, and no password. */
export const isOfSite = (site: string, { origin, username, password }: URL) =>
  origin === new URL(site).origin && username === '' && password === ''
