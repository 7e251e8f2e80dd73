/** What is open is in the address, so that reloading and going back work: `#group/release/123`. */
import type { Target } from '@loquat/sdk/client'
import { useMemo, useSyncExternalStore } from 'react'

export interface Route {
  target?: Target | undefined
  /** The message whose thread is open. */
  thread?: string | undefined
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return useMemo(() => {
    const [type, id, thread] = hash.slice(1).split('/').map(decodeURIComponent)
    if ((type !== 'user' && type !== 'group') || !id) return {}
    return { target: { type, id }, thread }
  }, [hash])
}

export function go({ target, thread }: Route, replace = false): void {
  const parts = target ? [target.type, target.id, ...(thread ? [thread] : [])] : []
  const hash = `#${parts.map(encodeURIComponent).join('/')}`
  if (replace) location.replace(hash)
  else location.hash = hash
}
