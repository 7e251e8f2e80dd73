import { useQuery } from '@tanstack/react-query'
import { appKey, manage, useApp } from './manage.ts'

/** The API key for examples: the oldest one with full access, if the operator may see keys. */
export function useExampleKey() {
  const { appId, app, role } = useApp()
  const keys = useQuery({
    queryKey: appKey(appId, 'keys', 'fullAccess'),
    queryFn: () => manage.app(appId).apiKeys.list({ scope: 'fullAccess' }),
    enabled: app.data?.state === 'active' && role !== 'moderator',
  })
  return { keys, key: keys.data?.data.at(-1)?.apiKey }
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Builds curl commands that work when pasted into a shell. */
export function useCurl() {
  const { app } = useApp()
  const { key = 'YOUR_API_KEY' } = useExampleKey()
  return (path: string, body?: object, onBehalfOf?: string) =>
    [
      `curl ${app.data?.baseUrl ?? ''}${path}`,
      `-H ${quoted(`apikey: ${key}`)}`,
      ...(onBehalfOf ? [`-H ${quoted(`onBehalfOf: ${onBehalfOf}`)}`] : []),
      ...(body
        ? [`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]
        : []),
    ].join(' \\\n  ')
}
