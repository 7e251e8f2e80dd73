import { Outlet } from '@tanstack/react-router'
import { SignedOut } from '../areas/session/signed-out.tsx'
import { isSignedOut, useSession } from '../shared/manage.ts'
import { Problem } from '../shared/problem.tsx'
import { Toasts } from '../shared/toasts.tsx'
import { Sidebar } from './sidebar.tsx'
import { TopBar } from './top-bar.tsx'

/** The layout around every page. Shows the sign-in form to signed-out operators. */
export function Frame() {
  const session = useSession()
  if (session.isPending) return null
  if (isSignedOut(session.error)) return <SignedOut />
  return (
    // Reset all pages when another operator signs in.
    <div className="shell" key={session.data?.operator.email}>
      <button
        type="button"
        className="button skip"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to content
      </button>
      <Sidebar />
      <div>
        <TopBar />
        <main id="main" tabIndex={-1}>
          <Problem error={session.error} retry={session.refetch} />
          <Outlet />
        </main>
      </div>
      <Toasts />
    </div>
  )
}
