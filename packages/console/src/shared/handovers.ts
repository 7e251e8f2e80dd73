/** What the sidebar and the inbox read about conversations that were handed to people. */
import { useQuery } from '@tanstack/react-query'
import { appKey, manage } from './manage.ts'

/** All keys about handovers start with it, so that one call refreshes everything. */
export const inboxKey = (appId: string, ...rest: unknown[]) => appKey(appId, 'inbox', ...rest)

const REFRESH_MS = 10_000
/** More aren't counted. */
const MOST = 99

/** How many conversations wait for a person: `99+` for more. Undefined if none does. */
export function useWaiting(appId: string): string | undefined {
  const waiting = useQuery({
    queryKey: inboxKey(appId, 'waiting'),
    queryFn: async () => {
      const { agentHandovers } = manage.app(appId)
      return (await agentHandovers.list({ state: 'open', limit: MOST + 1 })).data.length
    },
    refetchInterval: REFRESH_MS,
  })
  const count = waiting.data ?? 0
  if (count === 0) return undefined
  return count > MOST ? `${MOST}+` : String(count)
}
