'use client'
import { useCallback, useEffect, useState } from 'react'
import { useClient } from '../chat.tsx'
import { storage } from '../storage.ts'

/** The text that the user is writing in a room. The browser keeps it until it is sent. */
export function useDraft(room: string): [text: string, setText: (text: string) => void] {
  const { uid } = useClient()
  const name = `loquat-draft:${uid}:${room}`
  const [text, setText] = useState('')
  // Not during rendering: a server has no storage.
  useEffect(() => setText(storage.get(name) ?? ''), [name])
  const change = useCallback(
    (next: string) => {
      setText(next)
      // At once: the user may open another room and come back within a moment.
      if (next === '') storage.remove(name)
      else storage.set(name, next)
    },
    [name],
  )
  return [text, change]
}
