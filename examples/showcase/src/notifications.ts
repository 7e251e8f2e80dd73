import type { LoquatClient, Target } from '@loquat/sdk/client'
import { useEffect } from 'react'

/** Ends the notifications before the user signs out. */
export async function stopNotifications(client: LoquatClient): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration()
  if (worker) await client.unsubscribeFromPush(worker)
}

/** Opens the conversation of a notification that was clicked. */
export function useClickedNotification(onOpen: (target: Target) => void): void {
  useEffect(() => {
    const listen = ({ data }: MessageEvent<{ open?: { target: Target } }>) => {
      if (data.open) onOpen(data.open.target)
    }
    navigator.serviceWorker?.addEventListener('message', listen)
    return () => navigator.serviceWorker?.removeEventListener('message', listen)
  }, [onOpen])
}
