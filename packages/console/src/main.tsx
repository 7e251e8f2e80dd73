import { QueryClientProvider, useMutation, useQuery } from '@tanstack/react-query'
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Keys } from './areas/apikeys/keys.tsx'
import { Apps } from './areas/apps/apps.tsx'
import { AppFrame, AppHome } from './areas/apps/home.tsx'
import { SignIn } from './areas/session/sign-in.tsx'
import { Users } from './areas/users/users.tsx'
import { isSignedOut, manage, queries } from './shared/manage.ts'
import { Problem } from './shared/parts.tsx'
import './style.css'

/** All pages but the first are for whoever is signed in. */
function Frame() {
  const session = useQuery({ queryKey: ['session'], queryFn: () => manage.sessions.get() })
  const signOut = useMutation({
    mutationFn: () => manage.sessions.end(),
    onSettled: () => {
      queries.clear()
      location.reload()
    },
  })
  if (session.isPending) return null
  if (isSignedOut(session.error)) return <SignIn />
  return (
    <>
      <header>
        <Link to="/">Loquat</Link>
        <span>{session.data?.operator.email}</span>
        <button type="button" onClick={() => signOut.mutate()}>
          Sign out
        </button>
      </header>
      <Problem error={session.error} />
      <Outlet />
    </>
  )
}

const root = createRootRoute({ component: Frame })
const home = createRoute({ getParentRoute: () => root, path: '/', component: Apps })
const app = createRoute({ getParentRoute: () => root, path: '/apps/$appId', component: AppFrame })
const pages = [
  createRoute({ getParentRoute: () => app, path: '/', component: AppHome }),
  createRoute({ getParentRoute: () => app, path: '/keys', component: Keys }),
  createRoute({ getParentRoute: () => app, path: '/users', component: Users }),
] as const

const router = createRouter({
  routeTree: root.addChildren([home, app.addChildren(pages)]),
  // One document, wherever the files stand: the rest of the address is the page's own.
  history: createHashHistory(),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

const element = document.getElementById('root')
if (element) {
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
