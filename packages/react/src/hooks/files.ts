'use client'
import type { FileLinks as LinksOfFile, LoquatClient } from '@loquat/sdk/client'
import { useEffect, useState } from 'react'
import { useClient } from '../chat.tsx'

interface Known {
  links: Promise<LinksOfFile | undefined>
  until: number
}

/** URLs work for five minutes. */
const LINKS_MS = 4 * 60_000
const MOST_AT_ONCE = 50

/** Asks for the links of all files that are shown at the same time with one request. */
class FileLinks {
  readonly #client: LoquatClient
  readonly #known = new Map<string, Known>()
  #wanted = new Map<string, (links: LinksOfFile | undefined) => void>()

  constructor(client: LoquatClient) {
    this.#client = client
  }

  of(id: string): Promise<LinksOfFile | undefined> {
    const known = this.#known.get(id)
    if (known && known.until > Date.now()) return known.links
    const links = new Promise<LinksOfFile | undefined>((resolve) => {
      if (this.#wanted.size === 0) setTimeout(() => void this.#ask())
      this.#wanted.set(id, resolve)
    })
    this.#known.set(id, { links, until: Date.now() + LINKS_MS })
    return links
  }

  async #ask(): Promise<void> {
    const wanted = [...this.#wanted]
    this.#wanted = new Map()
    for (let from = 0; from < wanted.length; from += MOST_AT_ONCE) {
      const some = wanted.slice(from, from + MOST_AT_ONCE)
      const ids = some.map(([id]) => id)
      const found = await this.#client.api.files.sign({ ids }).catch(() => [])
      const byId = new Map(found.map(({ id, links }) => [id, links]))
      for (const [id, resolve] of some) {
        if (!byId.has(id)) this.#known.delete(id)
        resolve(byId.get(id))
      }
    }
  }
}

const all = new WeakMap<LoquatClient, FileLinks>()

/** URLs of an uploaded file, which a message only refers to by `/v3/files/{id}`. Undefined until they are there. */
export function useFileLinks(id: string | undefined): LinksOfFile | undefined {
  const client = useClient()
  const [found, setFound] = useState<{ id: string; links: LinksOfFile | undefined }>()
  useEffect(() => {
    if (id === undefined) return
    const files = all.get(client) ?? new FileLinks(client)
    all.set(client, files)
    let isCurrent = true
    const read = () => void files.of(id).then((links) => isCurrent && setFound({ id, links }))
    read()
    const timer = setInterval(read, LINKS_MS)
    return () => {
      isCurrent = false
      clearInterval(timer)
    }
  }, [client, id])
  return found?.id === id ? found?.links : undefined
}
