'use client'
import type { Target } from '@loquat/sdk/client'
import { useEffect } from 'react'
import { useClient } from '../chat.tsx'

/** Marks a conversation as read up to a message while the window is visible. */
export function useReadMark(target: Target, upTo: string | undefined): void {
  const client = useClient()
  const { type, id } = target
  useEffect(() => {
    if (upTo === undefined) return
    const mark = () => {
      if (document.visibilityState !== 'visible') return
      // The next message marks this one too.
      client.markRead({ type, id }, upTo).catch(() => undefined)
    }
    mark()
    document.addEventListener('visibilitychange', mark)
    return () => document.removeEventListener('visibilitychange', mark)
  }, [client, type, id, upTo])
}
