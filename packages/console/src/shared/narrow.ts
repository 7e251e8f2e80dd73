import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 640px)')

function subscribe(listener: () => void) {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** The screen is that of a phone. */
export const useNarrow = () => useSyncExternalStore(subscribe, () => narrow.matches)
