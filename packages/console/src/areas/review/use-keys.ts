import { useEffect, useRef } from 'react'

/** Calls a function for a key that is pressed outside of fields and dialogs. */
export function useKeys(keys: Record<string, () => unknown>): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, metaKey, altKey } = event
      if (ctrlKey || metaKey || altKey) return
      if (!(target instanceof Element) || document.querySelector('[role=dialog]')) return
      if (target.closest('input, textarea, select, [contenteditable]')) return
      const act = current.current[key]
      if (!act) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
