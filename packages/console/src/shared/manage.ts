import { LoquatError, LoquatManagement, type management } from '@loquat/sdk'
import { MutationCache, QueryCache, QueryClient, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'

/** The interface stands one level above the page, wherever that is. The session is a cookie. */
export const manage = new LoquatManagement({ baseUrl: new URL('..', document.baseURI).href })

/** Nobody is signed in, or no longer. */
export const isSignedOut = (error: unknown) =>
  error instanceof LoquatError &&
  (error.code === 'AUTH_ERR_EMPTY_AUTH_HEADER' || error.code === 'AUTH_ERR_INVALID_CREDENTIALS')

const SESSION = ['session']

/** Whoever is signed out meanwhile, by time or by somebody else, is asked to sign in again. */
export function checkSession(error: unknown) {
  // Where nobody is known to be signed in there is nothing to ask: it would only clear the form.
  if (isSignedOut(error) && queries.getQueryState(SESSION)?.status === 'success')
    void queries.invalidateQueries({ queryKey: SESSION })
}

/** The SDK repeats what passes: no need to do it twice. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: checkSession }),
  mutationCache: new MutationCache({ onError: checkSession }),
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

/** Nothing that one operator has read is shown to the next. */
const forget = () =>
  queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] })

/** Somebody has signed in. */
export function beginSession(session: management.Session) {
  void forget()
  queries.setQueryData(SESSION, session)
}

/** Another tab may have signed in as somebody else: the cookie is the same. */
async function readSession(): Promise<management.Session> {
  const session = await manage.sessions.get()
  const before = queries.getQueryData<management.Session>(SESSION)
  if (before && before.operator.email !== session.operator.email) void forget()
  return session
}

export const useSession = () =>
  useQuery({ queryKey: SESSION, queryFn: readSession, staleTime: 60_000 })
