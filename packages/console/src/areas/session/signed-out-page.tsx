import type { ReactNode } from 'react'
import { Mark } from '../../shared/icons.tsx'
import { Panel, useDocumentTitle } from '../../shared/page.tsx'

interface SignedOutPageProps {
  title: string
  /** Shown below the form. */
  below: ReactNode
  children: ReactNode
}

/** A page for signed-out operators: a single form, without navigation. */
export function SignedOutPage({ title, below, children }: SignedOutPageProps) {
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
