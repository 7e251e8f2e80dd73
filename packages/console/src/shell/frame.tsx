import { Outlet } from '@tanstack/react-router'
import { Outside } from '../areas/session/outside.tsx'
import { isSignedOut, useSession } from '../shared/manage.ts'
import { Problem } from '../shared/problem.tsx'
import { Toasts } from '../shared/toasts.tsx'
import { Sidebar } from './sidebar.tsx'
import { TopBar } from './top-bar.tsx'

/** What all pages share. All but the first are for whoever is signed in. */
export function Frame() {
  const session = useSession()
  if (session.isPending) return null
  if (isSignedOut(session.error)) return <Outside />
  return (
    // Pages begin anew for another operator.
    <div className="shell" key={session.data?.operator.email}>
      <button
        type="button"
        className="button skip"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to the page
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
