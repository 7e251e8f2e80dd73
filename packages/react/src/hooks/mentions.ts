'use client'
import type { ChatMessage, Target } from '@loquat/sdk/client'
import { type KeyboardEvent, useCallback, useId, useMemo, useRef, useState } from 'react'
import { useClient } from '../chat.tsx'
import { mentionsOf } from '../content.ts'
import { useMembers } from './group.ts'
import { useUser } from './people.ts'

/** Somebody who can be mentioned. */
export interface Candidate {
  uid: string
  name: string
}

const MOST = 6
/** An @ at the beginning or after a space, and up to 30 characters of a name. */
const BEGUN = /(?:^|\s)@([^@\n]{0,30})$/

/**
 * Suggests members for what follows an @. The text shows their names; `written` has the markers that the server reads.
 */
export function useMentions(
  target: Target,
  text: string,
  onChange: (text: string, caret: number) => void,
) {
  const { uid: me } = useClient()
  const listId = useId()
  const [begun, setBegun] = useState<{ key: string; caret: number }>()
  const [active, setActive] = useState(0)
  /** The names that were inserted, and whose they are. */
  const names = useRef(new Map<string, string>())
  const isAsked = begun !== undefined
  const members = useMembers(isAsked && target.type === 'group' ? target.id : undefined)
  const other = useUser(isAsked && target.type === 'user' ? target.id : undefined)
  const found = useMemo<readonly Candidate[]>(() => {
    if (!begun) return []
    const key = begun.key.toLowerCase()
    return (members ?? (other ? [other] : []))
      .filter(({ uid, name }) => uid !== me && startsWith(name, uid, key))
      .slice(0, MOST)
  }, [begun, members, other, me])
  const at = Math.min(active, found.length - 1)

  const choose = ({ uid, name }: Candidate) => {
    if (!begun) return
    names.current.set(name, uid)
    const from = begun.caret - begun.key.length
    const inserted = `${name} `
    setBegun(undefined)
    onChange(text.slice(0, from) + inserted + text.slice(begun.caret), from + inserted.length)
  }
  const look = ({ value, selectionStart: caret }: HTMLTextAreaElement) => {
    const [, key] = BEGUN.exec(value.slice(0, caret)) ?? []
    setBegun(key === undefined ? undefined : { key, caret })
    if (key !== begun?.key) setActive(0)
  }
  /** Whether the key was for the suggestions. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const chosen = found[at]
    if (!chosen) return false
    if (event.key === 'ArrowDown') setActive((at + 1) % found.length)
    else if (event.key === 'ArrowUp') setActive((at + found.length - 1) % found.length)
    else if (event.key === 'Escape') setBegun(undefined)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(chosen)
    else return false
    event.preventDefault()
    return true
  }
  const know = useCallback((message: ChatMessage) => {
    for (const [uid, name] of mentionsOf(message)) names.current.set(name, uid)
  }, [])
  const written = (plain: string): string => {
    // Longer names first: one name can be the beginning of another.
    const known = [...names.current].sort(([one], [two]) => two.length - one.length)
    return known.reduce((all, [name, uid]) => all.replaceAll(`@${name}`, `<@uid:${uid}>`), plain)
  }
  const isOpen = found.length > 0
  const field = isOpen
    ? ({
        ...{ role: 'combobox', 'aria-expanded': true, 'aria-controls': listId },
        ...{ 'aria-autocomplete': 'list', 'aria-activedescendant': `${listId}-${at}` },
      } as const)
    : {}
  return { found, active: at, listId, field, choose, look, onKeyDown, know, written }
}

const startsWith = (name: string, uid: string, key: string) =>
  uid.startsWith(key) ||
  name.toLowerCase().startsWith(key) ||
  name
    .toLowerCase()
    .split(/\s+/)
    .some((word) => word.startsWith(key))
