import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Story } from './story.ts'

const PAGES: Record<string, string> = {
  '/': '<title>Handbook</title><h1>Welcome</h1><p>How we work.</p><a href="/rest">Rest</a><a href="/menu">Menu</a>',
  '/rest': '<title>Rest</title><h1>Between shifts</h1><p>Everybody rests for eleven hours.</p>',
  '/menu': '<title>Menu</title><p>On Monday there is soup.</p>',
}

/** The website of the clinic's handbook. */
export async function withHandbook(
  story: Story,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const site = createServer((request, response) => {
    const page = PAGES[request.url ?? '']
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html' }).end(page)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  story.masks.add(url, 'https://handbook.clinic.example')
  try {
    await work(url)
  } finally {
    site.close()
    site.closeAllConnections()
  }
}
