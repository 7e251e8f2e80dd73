'use client'
import type { Message, Target } from '@loquat/sdk/client'
import { useEffect, useState } from 'react'
import { useClient } from '../chat.tsx'

const WAIT_MS = 200

export interface Search {
  /** The newest first. */
  results: readonly Message[]
  searching: boolean
  error: Error | undefined
}

const NOTHING: Search = { results: [], searching: false, error: undefined }

/** Searches all conversations of the user, or one of them. */
export function useSearch(text: string, target?: Target): Search {
  const client = useClient()
  const [search, setSearch] = useState(NOTHING)
  const key = text.trim()
  const conversationId = target && client.idOf(target)
  useEffect(() => {
    if (key === '') return setSearch(NOTHING)
    const ended = new AbortController()
    const find = async () => {
      setSearch((before) => ({ ...before, searching: true }))
      const where = conversationId === undefined ? {} : { conversationId }
      const query = { searchKey: key, limit: 30, affix: 'prepend', ...where } as const
      try {
        const { data } = await client.api.messages.list(query, { signal: ended.signal })
        setSearch({ ...NOTHING, results: data.toReversed() })
      } catch (error) {
        if (!ended.signal.aborted) setSearch({ ...NOTHING, error: error as Error })
      }
    }
    const timer = setTimeout(find, WAIT_MS)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [client, key, conversationId])
  return search
}
