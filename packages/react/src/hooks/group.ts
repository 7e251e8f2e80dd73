'use client'
import type { Group, LoquatClient, Member } from '@loquat/sdk/client'
import { useCallback, useEffect, useState } from 'react'
import { useClient } from '../chat.tsx'

const CHANGES = [
  ...(['group.updated', 'group.owner.transferred', 'group.member.joined'] as const),
  ...(['group.member.left', 'group.member.added', 'group.member.kicked'] as const),
  ...(['group.member.banned', 'group.member.scope.changed'] as const),
]

/** Reads something of a group, and again when the group or its members change. */
function useOfGroup<T>(
  guid: string | undefined,
  read: (client: LoquatClient, guid: string) => Promise<T>,
): T | null | undefined {
  const client = useClient()
  const [found, setFound] = useState<{ guid: string; value: T | null }>()
  useEffect(() => {
    if (guid === undefined) return
    let isCurrent = true
    const refresh = () =>
      void read(client, guid).then(
        (value) => isCurrent && setFound({ guid, value }),
        // What is known stays if it can't be read again.
        () =>
          isCurrent && setFound((known) => (known?.guid === guid ? known : { guid, value: null })),
      )
    refresh()
    const unsubscribe = CHANGES.map((type) =>
      client.on(type, ({ group }) => {
        if (group.guid === guid) refresh()
      }),
    )
    return () => {
      isCurrent = false
      for (const end of unsubscribe) end()
    }
  }, [client, guid, read])
  return found?.guid === guid ? found?.value : undefined
}

const readGroup = ({ api }: LoquatClient, guid: string) => api.groups.get(guid)

/** A group, with the user's own scope in it. Null if it can't be read. */
export const useGroup = (guid: string | undefined): Group | null | undefined =>
  useOfGroup(guid, readGroup)

/** The most members that can be read at once. */
export const MOST_MEMBERS = 1_000

/**
 * The members of a group: the first 100, or as many as you ask for, up to 1,000. Null if they can't be read.
 */
export function useMembers(
  guid: string | undefined,
  count = 100,
): readonly Member[] | null | undefined {
  const read = useCallback(
    async ({ api }: LoquatClient, id: string) =>
      (await api.groupMembers.list(id, { perPage: Math.min(count, MOST_MEMBERS) })).data,
    [count],
  )
  return useOfGroup(guid, read)
}
