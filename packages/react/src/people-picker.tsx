'use client'
import type { User } from '@loquat/sdk/client'
import { useState } from 'react'
import { AgentBadge } from './answer-state.tsx'
import { Avatar } from './avatar.tsx'
import { useChat } from './chat.tsx'
import { AGENT_ROLE } from './content.ts'
import { usePeople } from './hooks/people.ts'

interface PeoplePickerProps {
  chosen: readonly User[]
  onChange: (chosen: readonly User[]) => void
  /** Users who can't be chosen. */
  without?: readonly string[] | undefined
}

/** Users to choose from, with a search. Those who are chosen come first. */
export function PeoplePicker({ chosen, onChange, without = [] }: PeoplePickerProps) {
  const { strings, parts } = useChat()
  const [text, setText] = useState('')
  const { users, searching } = usePeople(text)
  const AvatarPart = parts.Avatar ?? Avatar
  const BadgePart = parts.AgentBadge ?? AgentBadge
  const isChosen = ({ uid }: User) => chosen.some((one) => one.uid === uid)
  const others = users.filter((user) => !isChosen(user) && !without.includes(user.uid))
  return (
    <div className="lq-picker">
      <input
        className="lq-input"
        type="search"
        value={text}
        placeholder={strings.searchPeople}
        aria-label={strings.searchPeople}
        onChange={(event) => setText(event.target.value)}
      />
      <ul aria-busy={searching}>
        {[...chosen, ...others].map((user) => (
          <li key={user.uid}>
            <label className="lq-person">
              <AvatarPart id={user.uid} name={user.name} picture={user.avatar} withPresence />
              <span className="lq-person-main">
                <span className="lq-person-name">
                  <span className="lq-clip" dir="auto">
                    {user.name}
                  </span>
                  {user.role === AGENT_ROLE && <BadgePart />}
                </span>
                {user.statusMessage && (
                  <small className="lq-clip" dir="auto">
                    {user.statusMessage}
                  </small>
                )}
              </span>
              <input
                type="checkbox"
                checked={isChosen(user)}
                onChange={({ target }) =>
                  onChange(
                    target.checked
                      ? [...chosen, user]
                      : chosen.filter(({ uid }) => uid !== user.uid),
                  )
                }
              />
            </label>
          </li>
        ))}
      </ul>
      {others.length === 0 && chosen.length === 0 && !searching && (
        <p className="lq-empty">{strings.nobodyFound}</p>
      )}
    </div>
  )
}
