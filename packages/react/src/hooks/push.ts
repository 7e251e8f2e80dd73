'use client'
import { useCallback, useEffect, useState } from 'react'
import { useClient } from '../chat.tsx'

export interface PushState {
  /** `blocked`: the browser's settings forbid notifications. `unsupported`: this browser has none. */
  state: 'unsupported' | 'off' | 'on' | 'blocked'
  /** Asks for permission if needed. Rejects if the browser or the server refuses. */
  change: (isOn: boolean) => Promise<void>
}

function stateNow(): PushState['state'] {
  if (!('serviceWorker' in navigator && 'PushManager' in window)) return 'unsupported'
  return Notification.permission === 'denied' ? 'blocked' : 'off'
}

/** The push notifications of this browser. `worker` is the URL of your service worker, which shows them. */
export function usePush(worker: string): PushState {
  const client = useClient()
  const [state, setState] = useState<PushState['state']>('unsupported')
  useEffect(() => {
    setState(stateNow())
    if (stateNow() !== 'off') return
    // The subscription may have ended, or the app may have a new key.
    navigator.serviceWorker
      .register(worker)
      .then(async (registration) => {
        if (!(await registration.pushManager.getSubscription())) return
        await client.subscribeToPush(registration)
        setState('on')
      })
      .catch(() => undefined)
  }, [client, worker])
  const change = useCallback(
    async (isOn: boolean) => {
      if (!isOn) {
        await client.unsubscribeFromPush(await navigator.serviceWorker.register(worker))
        return setState('off')
      }
      if ((await Notification.requestPermission()) !== 'granted') return setState(stateNow())
      await navigator.serviceWorker.register(worker)
      await client.subscribeToPush(await navigator.serviceWorker.ready)
      setState('on')
    },
    [client, worker],
  )
  return { state, change }
}
