'use client'
import type { NotificationPreferences, UpdateNotificationPreferencesBody } from '@loquat/sdk/client'
import { useCallback, useEffect, useState } from 'react'
import { useClient } from '../chat.tsx'

export interface PreferencesState {
  /** What holds for the user. Undefined until it is fetched, and null if it can't be. */
  preferences: NotificationPreferences | null | undefined
  /** Changes some of them. Rejects if the app doesn't let its users choose. */
  change: (changed: UpdateNotificationPreferencesBody) => Promise<void>
}

/** Of what the user is notified. */
export function usePreferences(): PreferencesState {
  const client = useClient()
  const [preferences, setPreferences] = useState<NotificationPreferences | null>()
  const { uid } = client
  useEffect(() => {
    let isCurrent = true
    client.api.notificationPreferences.get({ uid }).then(
      (found) => isCurrent && setPreferences(found.preferences),
      () => isCurrent && setPreferences((known) => known ?? null),
    )
    return () => {
      isCurrent = false
    }
  }, [client, uid])
  const change = useCallback(
    async (changed: UpdateNotificationPreferencesBody) => {
      const found = await client.api.notificationPreferences.update(changed, { uid })
      setPreferences(found.preferences)
    },
    [client, uid],
  )
  return { preferences, change }
}
