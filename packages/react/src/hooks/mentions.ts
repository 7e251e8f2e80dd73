'use client'
import type { ChatMessage, Target } from '@loquat/sdk/client'
import { type KeyboardEvent, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useClient } from '../chat.tsx'
import { mentionsOf, plainText } from '../content.ts'
import { storage } from '../storage.ts'
import { MOST_MEMBERS, useMembers } from './group.ts'
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
  room: string,
  text: string,
  onChange: (text: string, caret: number) => void,
) {
  const { uid: me } = useClient()
  const listId = useId()
  const [begun, setBegun] = useState<{ key: string; caret: number }>()
  const [active, setActive] = useState(0)
  const labels = useLabels(`loquat-mentions:${me}:${room}`)
  const isAsked = begun !== undefined
  const members = useMembers(
    isAsked && target.type === 'group' ? target.id : undefined,
    MOST_MEMBERS,
  )
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
    const from = begun.caret - begun.key.length
    const inserted = `${labels.of(uid, name)} `
    labels.store()
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
  /** The text of a message as users edit it. */
  const textOf = useCallback(
    (message: ChatMessage) => {
      const mentioned = [...mentionsOf(message)]
      return plainText(
        message,
        new Map(mentioned.map(([uid, name]) => [uid, labels.of(uid, name)])),
      )
    },
    [labels],
  )
  const isOpen = found.length > 0
  const field = isOpen
    ? ({
        ...{ role: 'combobox', 'aria-expanded': true, 'aria-controls': listId },
        ...{ 'aria-autocomplete': 'list', 'aria-activedescendant': `${listId}-${at}` },
      } as const)
    : {}
  const { written, forget } = labels
  return { found, active: at, listId, field, choose, look, onKeyDown, textOf, written, forget }
}

/** These scripts don't put spaces between words. */
const UNSPACED = ['Han', 'Hira', 'Kana', 'Thai', 'Laoo', 'Khmr', 'Mymr']
  .map((script) => `\\p{sc=${script}}`)
  .join('')
/** No letter, sign or digit follows that belongs to the same word. */
const NAME_END = `(?!(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_])`

/**
 * What stands for a user in the text that is being written: the name, with the uid if somebody else has that name, too. The
 * browser keeps the labels along with the draft.
 */
function useLabels(key: string) {
  const uids = useRef(new Map<string, string>())
  useEffect(() => {
    uids.current = new Map(JSON.parse(storage.get(key) ?? '[]'))
  }, [key])
  return useMemo(() => {
    const of = (uid: string, name: string): string => {
      const owner = uids.current.get(name) ?? uid
      const label = owner === uid ? name : `${name} (${uid})`
      uids.current.set(label, uid)
      return label
    }
    const store = () => storage.set(key, JSON.stringify([...uids.current]))
    const forget = () => {
      uids.current.clear()
      storage.remove(key)
    }
    const written = (plain: string): string => {
      // Longer labels first: one can be the beginning of another.
      const known = [...uids.current.keys()].sort((one, two) => two.length - one.length)
      if (known.length === 0) return plain
      const any = known.map((label) => label.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')
      const marker = (_: string, label: string) => `<@uid:${uids.current.get(label)}>`
      return plain.replaceAll(new RegExp(`@(${any})${NAME_END}`, 'gu'), marker)
    }
    return { of, store, forget, written }
  }, [key])
}

const startsWith = (name: string, uid: string, key: string) =>
  uid.startsWith(key) ||
  name.toLowerCase().startsWith(key) ||
  name
    .toLowerCase()
    .split(/\s+/)
    .some((word) => word.startsWith(key))
