'use client'
import type { ReactNode } from 'react'
import { useStrings } from './chat.tsx'
import { Icon } from './icons.tsx'

interface PaneProps {
  title: string
  onClose: () => void
  children: ReactNode
}

/** A pane beside a conversation. */
export function Pane({ title, onClose, children }: PaneProps) {
  const strings = useStrings()
  return (
    <aside className="lq-channel lq-pane" aria-label={title}>
      <header className="lq-header">
        <div className="lq-header-names">
          <h2 className="lq-clip">{title}</h2>
        </div>
        <button type="button" className="lq-tool" aria-label={strings.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="lq-pane-main">{children}</div>
    </aside>
  )
}
