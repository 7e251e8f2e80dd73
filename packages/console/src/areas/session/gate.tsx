import type { ReactNode } from 'react'
import { Mark } from '../../shared/icons.tsx'
import { Panel, useDocumentTitle } from '../../shared/page.tsx'

interface GateProps {
  title: string
  /** What stands below the form. */
  below: ReactNode
  children: ReactNode
}

/** A page for whoever is not signed in: one form, and no navigation. */
export function Gate({ title, below, children }: GateProps) {
  useDocumentTitle(title)
  return (
    <main className="sign-in">
      <div className="brand">
        <Mark />
        Loquat
      </div>
      <h1>{title}</h1>
      <Panel>{children}</Panel>
      <p className="soft">{below}</p>
    </main>
  )
}
