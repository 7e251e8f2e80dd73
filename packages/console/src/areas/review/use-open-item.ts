import type { ReviewItem } from '@loquat/sdk'
import { useState } from 'react'

/**
 * The item that is open. If another moderator decides it, it stays open as it was, until this moderator moves on: a key or
 * a dialog must never act on an item that has taken its place. `list` names the list, so that other filters start afresh.
 */
export function useOpenItem(rows: readonly ReviewItem[], list: string) {
  const [kept, setKept] = useState<{ list: string; item: ReviewItem; at: number }>()
  const last = kept?.list === list ? kept : undefined
  const found = rows.findIndex(({ id }) => id === last?.item.id)
  const isGone = last !== undefined && found < 0
  const at = isGone ? last.at : Math.max(0, found)
  const open = isGone ? last.item : rows[at]
  if (open && (open !== last?.item || at !== last.at)) setKept({ list, item: open, at })
  const next = rows[isGone ? at : at + 1]
  const previous = rows[at - 1]
  const show = (item: ReviewItem | undefined) => item && setKept({ list, item, at })
  const close = (id: string) => setKept((now) => (now?.item.id === id ? undefined : now))
  return { open, isGone, next, previous, show, close }
}
