import { useSyncExternalStore } from 'react'
import { IconButton } from './button.tsx'
import { Icon } from './icons.tsx'

interface Toast {
  id: number
  text: string
  icon: 'check' | 'warn'
}

let shown: Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function show(toasts: Toast[]) {
  shown = toasts
  for (const listener of listeners) listener()
}

const close = (id: number) => show(shown.filter((toast) => toast.id !== id))

/** Shows a message for six seconds. */
export function toast(text: string, icon: Toast['icon'] = 'check') {
  const id = ++last
  show([...shown.slice(-2), { id, text, icon }])
  setTimeout(() => close(id), 6_000)
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, icon }) => (
        <div key={id} className={`toast ${icon}`}>
          <Icon name={icon} />
          <span>{text}</span>
          <IconButton icon="close" label="Close" onPress={() => close(id)} />
        </div>
      ))}
    </div>
  )
}
