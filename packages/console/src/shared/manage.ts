import { LoquatError, LoquatManagement } from '@loquat/sdk'
import { QueryClient } from '@tanstack/react-query'

/** The interface stands one level above the page, wherever that is. The session is a cookie. */
export const manage = new LoquatManagement({ baseUrl: new URL('..', document.baseURI).href })

/** Nobody is signed in, or no longer. */
export const isSignedOut = (error: unknown) =>
  error instanceof LoquatError &&
  (error.code === 'AUTH_ERR_EMPTY_AUTH_HEADER' || error.code === 'AUTH_ERR_INVALID_CREDENTIALS')

export const textOf = (error: unknown) =>
  error instanceof LoquatError ? error.message : 'Something went wrong in this page.'

/** The SDK repeats what passes: no need to do it twice. */
export const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 5_000 } },
})
