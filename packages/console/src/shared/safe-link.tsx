/** The URL, if it is an http or https one. Rejects `javascript:` and other schemes. */
export function webUrl(text: string | undefined): string | undefined {
  if (!text) return undefined
  const url = URL.parse(text)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined
}

/** A URL from untrusted data: a link if it is a web URL, otherwise plain text. */
export function SafeLink({ href, children }: { href: string; children?: string }) {
  const url = webUrl(href)
  if (!url) return <span>{children ?? href}</span>
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children ?? href}
    </a>
  )
}
