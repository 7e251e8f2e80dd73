'use client'
import { useState } from 'react'
import { useStrings } from './chat.tsx'
import { EMOJI } from './emoji-data.ts'
import { isComposing } from './keys.ts'
import { moveFocus } from './popover.tsx'

const COLUMNS = 8

/** Emoji to choose from, with a search. */
export function EmojiPicker({ onPick }: { onPick: (emoji: string) => void }) {
  const strings = useStrings()
  const [text, setText] = useState('')
  const key = text.trim().toLowerCase()
  const all = EMOJI.flatMap(([, emoji]) => emoji)
  const found = all.filter(({ emoji, words }) => words.includes(key) || emoji === key)
  return (
    <div className="lq-emoji-picker">
      <input
        className="lq-input"
        type="search"
        data-autofocus
        value={text}
        placeholder={strings.searchEmoji}
        aria-label={strings.searchEmoji}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (isComposing(event)) return
          if (event.key === 'Enter' && found[0]) onPick(found[0].emoji)
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          event.currentTarget.parentElement?.querySelector('button')?.focus()
        }}
      />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only moves the focus of the buttons */}
      <div className="lq-emoji-grid" onKeyDown={(event) => moveFocus(event, COLUMNS)}>
        {found.map(({ emoji, words }, nth) => (
          <button
            key={emoji}
            type="button"
            tabIndex={nth === 0 ? 0 : -1}
            title={words.split(' ')[0]}
            onClick={() => onPick(emoji)}
          >
            {emoji}
          </button>
        ))}
      </div>
      {found.length === 0 && <p className="lq-soft">{strings.noEmoji}</p>}
    </div>
  )
}
