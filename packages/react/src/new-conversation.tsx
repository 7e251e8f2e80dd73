'use client'
import type { Target, User } from '@loquat/sdk/client'
import { useState } from 'react'
import { useChat } from './chat.tsx'
import { Pane } from './pane.tsx'
import { PeoplePicker } from './people-picker.tsx'

export interface NewConversationProps {
  /** Opens the conversation with a user or a new group. */
  onOpen: (target: Target, name: string) => void
  onClose: () => void
}

/** Starts a conversation: with one user, or in a new group with several. */
export function NewConversation({ onOpen, onClose }: NewConversationProps) {
  const { client, strings } = useChat()
  const [chosen, setChosen] = useState<readonly User[]>([])
  const [name, setName] = useState('')
  const [state, setState] = useState<'idle' | 'creating' | 'failed'>('idle')
  const isGroup = chosen.length > 1
  const [first] = chosen
  const open = async () => {
    if (!first) return
    if (!isGroup) return onOpen({ type: 'user', id: first.uid }, first.name)
    setState('creating')
    try {
      const members = { participants: chosen.map(({ uid }) => uid) }
      const guid = `group-${crypto.randomUUID()}`
      await client.api.groups.create({ guid, name: name.trim(), type: 'private', members })
      onOpen({ type: 'group', id: guid }, name.trim())
    } catch {
      setState('failed')
    }
  }
  const cannot = !first || state === 'creating' || (isGroup && name.trim() === '')
  return (
    <Pane title={strings.newConversation} onClose={onClose}>
      <form
        className="lq-form"
        onSubmit={(event) => {
          event.preventDefault()
          void open()
        }}
      >
        <PeoplePicker chosen={chosen} onChange={setChosen} />
        <footer className="lq-form-foot">
          {isGroup && (
            <input
              className="lq-input"
              value={name}
              maxLength={100}
              placeholder={strings.groupName}
              aria-label={strings.groupName}
              onChange={(event) => setName(event.target.value)}
            />
          )}
          {state === 'failed' && (
            <p className="lq-failed" role="alert">
              {strings.error}
            </p>
          )}
          <button type="submit" className="lq-button" disabled={cannot}>
            {isGroup
              ? strings.createGroup(chosen.length + 1)
              : first
                ? strings.writeTo(first.name)
                : strings.choosePeople}
          </button>
        </footer>
      </form>
    </Pane>
  )
}
