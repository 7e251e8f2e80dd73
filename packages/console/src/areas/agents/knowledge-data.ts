import type { Agent, KnowledgeSource } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { appKey, manage, useAppId } from '../../shared/manage.ts'

/** How many sources the page shows. An app with more adds and removes them through the API. */
const MOST = 500
const POLL_MS = 2_000

const isBusy = ({ status }: KnowledgeSource) => status === 'indexing'

/** The sources of the app, newest first. */
async function readSources(appId: string): Promise<KnowledgeSource[]> {
  const { knowledge } = manage.app(appId)
  const sources: KnowledgeSource[] = []
  for (let createdAt: number | undefined; sources.length < MOST; ) {
    const from = createdAt === undefined ? {} : { createdAt }
    const { data, meta } = await knowledge.listSources({ limit: 100, ...from })
    sources.push(...data)
    createdAt = meta.next?.createdAt
    if (createdAt === undefined) break
  }
  return sources
}

export function useSources() {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'agents', 'sources'),
    queryFn: () => readSources(appId),
    refetchInterval: ({ state }) => (state.data?.some(isBusy) ? POLL_MS : false),
  })
}

export const knows = ({ files, websites }: Agent, { uniqueId }: KnowledgeSource) =>
  files.includes(uniqueId) || websites.includes(uniqueId)

/** The newest pages of a website. */
export function usePages(uniqueId: string) {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'agents', 'pages', uniqueId),
    queryFn: () => manage.app(appId).knowledge.listPages(uniqueId, { limit: 100 }),
    refetchInterval: POLL_MS,
  })
}
