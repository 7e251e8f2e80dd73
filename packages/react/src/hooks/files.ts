'use client'
import type { FileLinks as LinksOfFile, LoquatClient } from '@loquat/sdk/client'
import { type SyntheticEvent, useEffect, useRef, useState } from 'react'
import { useClient } from '../chat.tsx'

interface Known {
  links: Promise<LinksOfFile | undefined>
  until: number
}

/** How long URLs are used. They work for five minutes, by the clock of the server. */
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

  of(id: string): Known {
    const before = this.#known.get(id)
    if (before && before.until > Date.now()) return before
    const links = new Promise<LinksOfFile | undefined>((resolve) => {
      if (this.#wanted.size === 0) setTimeout(() => void this.#ask())
      this.#wanted.set(id, resolve)
    })
    const known = { links, until: Date.now() + LINKS_MS }
    this.#known.set(id, known)
    return known
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
    let timer: ReturnType<typeof setTimeout>
    const read = async () => {
      const { links, until } = files.of(id)
      const found = await links
      if (!isCurrent) return
      setFound({ id, links: found })
      // Another component may have asked for them long ago.
      timer = setTimeout(read, until - Date.now())
    }
    void read()
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [client, id])
  return found?.id === id ? found?.links : undefined
}

/**
 * What a player needs to play a link that is renewed from time to time. Another `src` would start it again, so the URL stays
 * from the first play to the end. If it expires meanwhile, because the player was paused, the player goes on with the new one.
 */
export function usePlayerUrl(url: string) {
  const player = useRef<HTMLMediaElement>(null)
  const [used, setUsed] = useState<string>()
  const stoppedAt = useRef<number>(undefined)
  const src = used ?? url
  // biome-ignore lint/correctness/useExhaustiveDependencies: the player has another source
  useEffect(() => {
    const at = stoppedAt.current
    stoppedAt.current = undefined
    if (at === undefined || !player.current) return
    player.current.currentTime = at
    player.current.play().catch(() => undefined)
  }, [src])
  return {
    player,
    src,
    onPlay: () => setUsed(src),
    onEnded: () => setUsed(undefined),
    onError: ({ currentTarget }: SyntheticEvent<HTMLMediaElement>) => {
      if (used !== undefined && used !== url) stoppedAt.current = currentTarget.currentTime
      setUsed(undefined)
    },
  }
}
