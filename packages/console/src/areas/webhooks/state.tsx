import type { Webhook, WebhookDelivery } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Status } from '../../shared/status.tsx'

export type Delivery = WebhookDelivery

/** How often an open page fetches new deliveries. */
export const REFRESH_MS = 3_000

/** The newest delivery attempt, which tells whether the webhook works. */
export function useLastDelivery(webhookId: string) {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'webhooks', webhookId, 'last'),
    queryFn: async () => {
      const { data } = await manage.app(appId).webhooks.listDeliveries(webhookId, { limit: 1 })
      return data[0] ?? null
    },
    refetchInterval: REFRESH_MS,
  }).data
}

export function WebhookState({ webhook }: { webhook: Pick<Webhook, 'id' | 'enabled'> }) {
  const last = useLastDelivery(webhook.id)
  if (!webhook.enabled) return <Status>Disabled</Status>
  if (last && !last.success) return <Status tone="bad">Failing</Status>
  return <Status tone="good">Active</Status>
}

/** The result of an attempt: the status of the response, or the reason why there was none. */
export const Outcome = ({ delivery }: { delivery: Delivery }) => (
  <Status tone={delivery.success ? 'good' : 'bad'}>
    {delivery.status ?? delivery.error ?? 'No response'}
  </Status>
)
