'use client'
import { lazy, Suspense, useRef, useState } from 'react'
import { Icon } from './icons.tsx'
import { Popover } from './popover.tsx'

const EmojiPicker = lazy(() =>
  import('./emoji-picker.tsx').then((loaded) => ({ default: loaded.EmojiPicker })),
)

interface EmojiButtonProps {
  label: string
  onPick: (emoji: string) => void
  className?: string | undefined
}

/** Opens the emoji picker. */
export function EmojiButton({ label, onPick, className = 'lq-tool' }: EmojiButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="smile" />
      </button>
      {isOpen && (
        <Popover anchor={button} label={label} onClose={() => setOpen(false)}>
          <Suspense fallback={<div className="lq-emoji-picker" />}>
            <EmojiPicker
              onPick={(emoji) => {
                setOpen(false)
                onPick(emoji)
              }}
            />
          </Suspense>
        </Popover>
      )}
    </>
  )
}
