/** The address if it leads to a web page; `javascript:` and the like do not. */
export function webUrl(text: string | undefined): string | undefined {
  if (!text) return undefined
  const url = URL.parse(text)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined
}

/** An address that somebody else wrote: a link if it is a web page, else a text. */
export function SafeLink({ href, children }: { href: string; children?: string }) {
  const url = webUrl(href)
  if (!url) return <span>{children ?? href}</span>
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children ?? href}
    </a>
  )
}
