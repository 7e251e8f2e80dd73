/** How the showcase looks. These are properties of the kit's `ChatProvider`. */
import { useState, useSyncExternalStore } from 'react'

export interface Look {
  layout: 'workspace' | 'messenger'
  theme: 'light' | 'dark' | undefined
  density: 'comfortable' | 'compact'
  language: 'en' | 'es' | 'ar'
}

const PHONE = '(max-width: 760px)'

/** Whether there is room for one pane only. */
export function usePhone(): boolean {
  const subscribe = (listener: () => void) => {
    const query = matchMedia(PHONE)
    query.addEventListener('change', listener)
    return () => query.removeEventListener('change', listener)
  }
  return useSyncExternalStore(subscribe, () => matchMedia(PHONE).matches)
}

/** A workspace on a desktop, a messenger on a phone, until somebody chooses. */
export function useLook(): [Look, (changed: Partial<Look>) => void] {
  const isPhone = usePhone()
  const [chosen, setChosen] = useState<Partial<Look>>({})
  const { layout = isPhone ? 'messenger' : 'workspace', theme, density = 'comfortable' } = chosen
  const look = { layout, theme, density, language: chosen.language ?? 'en' } as const
  return [look, (changed) => setChosen({ ...chosen, ...changed })]
}
