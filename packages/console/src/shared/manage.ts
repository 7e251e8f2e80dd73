import { LoquatError, LoquatManagement, type management } from '@loquat/sdk'
import { MutationCache, QueryCache, QueryClient, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'

/** The management API is one level above the console's path. The session is a cookie. */
export const manage = new LoquatManagement({ baseUrl: new URL('..', document.baseURI).href })

/** Whether the error means that no operator is signed in. */
export const isSignedOut = (error: unknown) =>
  error instanceof LoquatError &&
  (error.code === 'AUTH_ERR_EMPTY_AUTH_HEADER' || error.code === 'AUTH_ERR_INVALID_CREDENTIALS')

const SESSION = ['session']

/** Shows the sign-in form when the session has expired or was ended elsewhere. */
export function checkSession(error: unknown) {
  // On the sign-in form itself, refetching the session would only clear the form.
  if (isSignedOut(error) && queries.getQueryState(SESSION)?.status === 'success')
    void queries.invalidateQueries({ queryKey: SESSION })
}

/** Queries don't retry, because the SDK already retries temporary failures. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: checkSession }),
  mutationCache: new MutationCache({ onError: checkSession }),
  defaultOptions: { queries: { retry: false, staleTime: 5_000 } },
})

/** Builds a query key. Keys of an app's data start with `['app', appId]`. */
export const appKey = (appId: string, ...rest: unknown[]) => ['app', appId, ...rest]

/** The app id in the path of the current page. */
export const useAppId = () => useParams({ strict: false }).appId ?? ''

/** The app of the current page, and the operator's role in it. */
export function useApp() {
  const appId = useAppId()
  const app = useQuery({
    queryKey: appKey(appId, 'app'),
    queryFn: () => manage.apps.get(appId),
    enabled: appId !== '',
  })
  return { appId, app, role: app.data?.role }
}

/** Drops all fetched data, so that the next operator never sees it. */
const forget = () =>
  queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] })

/** Call this after every sign-in. */
export function beginSession(session: management.SignedIn) {
  void forget()
  queries.setQueryData(SESSION, session)
}

/** All tabs share the cookie, so another tab may have signed in as another operator. */
async function readSession(): Promise<management.SignedIn> {
  const session = await manage.sessions.get()
  const before = queries.getQueryData<management.SignedIn>(SESSION)
  if (before && before.operator.email !== session.operator.email) void forget()
  return session
}

export const useSession = () =>
  useQuery({ queryKey: SESSION, queryFn: readSession, staleTime: 60_000 })
