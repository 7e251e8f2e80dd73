'use client'
import type { Target } from '@loquat/sdk/client'
import { useCallback, useState } from 'react'
import { useClient } from '../chat.tsx'

/** A file that the user has chosen but not sent yet. */
export interface StagedFile {
  key: number
  file: File
}

export interface Uploading {
  /** The chosen files. */
  staged: readonly StagedFile[]
  stage: (files: Iterable<File>) => void
  unstage: (key: number) => void
  /** Sends the chosen files, the first one with a text and a quote. Each becomes a message that shows its progress. */
  send: (text?: string, quotedMessageId?: string) => void
}

let last = 0

/** Files to send to a conversation or thread. */
export function useUpload(target: Target, parentId?: string): Uploading {
  const client = useClient()
  const [staged, setStaged] = useState<readonly StagedFile[]>([])
  const { type, id } = target
  const stage = useCallback((files: Iterable<File>) => {
    const added = [...files].map((file) => ({ key: ++last, file }))
    setStaged((before) => [...before, ...added])
  }, [])
  const unstage = useCallback((key: number) => {
    setStaged((before) => before.filter((one) => one.key !== key))
  }, [])
  const send = useCallback(
    (text?: string, quotedMessageId?: string) => {
      for (const [nth, { file }] of staged.entries()) {
        const caption = nth === 0 ? { ...(text && { text }), quotedMessageId } : {}
        // The message itself shows that it failed, and can be sent again.
        client.sendFile({ type, id }, file, { ...caption, parentId }).catch(() => undefined)
      }
      setStaged([])
    },
    [client, type, id, parentId, staged],
  )
  return { staged, stage, unstage, send }
}
