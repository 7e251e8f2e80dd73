import { LoquatError, LoquatManagement } from '@loquat/sdk'
import { QueryCache, QueryClient, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'

/** The interface stands one level above the page, wherever that is. The session is a cookie. */
export const manage = new LoquatManagement({ baseUrl: new URL('..', document.baseURI).href })

/** Nobody is signed in, or no longer. */
export const isSignedOut = (error: unknown) =>
  error instanceof LoquatError &&
  (error.code === 'AUTH_ERR_EMPTY_AUTH_HEADER' || error.code === 'AUTH_ERR_INVALID_CREDENTIALS')

/** The SDK repeats what passes: no need to do it twice. */
export const queries = new QueryClient({
  queryCache: new QueryCache({
    // Whoever is signed out meanwhile, by time or by somebody else, is asked to sign in again.
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== 'session')
        void queries.invalidateQueries({ queryKey: ['session'] })
    },
  }),
  defaultOptions: { queries: { retry: false, staleTime: 5_000 } },
})

/** Keys of what is read: everything of an app begins with `['app', appId]`. */
export const appKey = (appId: string, ...rest: unknown[]) => ['app', appId, ...rest]

/** The id in the address, of all pages of an app. */
export const useAppId = () => useParams({ strict: false }).appId ?? ''

/** The app of the page, with the operator's role in it. */
export function useApp() {
  const appId = useAppId()
  const app = useQuery({
    queryKey: appKey(appId, 'app'),
    queryFn: () => manage.apps.get(appId),
    enabled: appId !== '',
  })
  return { appId, app, role: app.data?.role }
}

export const useSession = () =>
  useQuery({ queryKey: ['session'], queryFn: () => manage.sessions.get(), staleTime: 60_000 })
