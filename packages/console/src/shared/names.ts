import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { appKey, manage, useAppId } from './manage.ts'

export interface Named {
  id: string
  name: string
  url?: string | undefined
}

/** As many as one request can name. */
const MOST = 100

/** Names and pictures of users whose ids are known. The result changes with the names. Deleted users keep their id as name. */
export function useUserNames(uids: string[]): (uid: string) => Named {
  const appId = useAppId()
  const wanted = [...new Set(uids)].sort().slice(0, MOST)
  const users = useQuery({
    queryKey: appKey(appId, 'users', 'names', wanted),
    queryFn: () =>
      manage.app(appId).users.list({ uids: wanted, perPage: MOST, withDeactivated: true }),
    enabled: wanted.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  const { data } = users
  return useCallback(
    (uid) => {
      const user = data?.data.find((one) => one.uid === uid)
      return { id: uid, name: user?.name ?? uid, url: user?.avatar }
    },
    [data],
  )
}

/** Names and pictures of groups whose ids are known. */
export function useGroupNames(guids: string[]): (guid: string) => Named {
  const appId = useAppId()
  const wanted = [...new Set(guids)].sort().slice(0, MOST)
  const groups = useQuery({
    queryKey: appKey(appId, 'groups', 'names', wanted),
    queryFn: () => manage.app(appId).groups.list({ guids: wanted, perPage: MOST }),
    enabled: wanted.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
  const { data } = groups
  return useCallback(
    (guid) => {
      const group = data?.data.find((one) => one.guid === guid)
      return { id: guid, name: group?.name ?? guid, url: group?.icon }
    },
    [data],
  )
}
