import type { ListWebhookDeliveriesAnswer, Webhook } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Status } from '../../shared/status.tsx'

export type Delivery = ListWebhookDeliveriesAnswer['data'][number]

/** While somebody looks: what was delivered meanwhile shows by itself. */
export const LOOK_AGAIN_MS = 3_000

/** The newest try to deliver anything: how the webhook is. */
export function useLastDelivery(webhookId: string) {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'webhooks', webhookId, 'last'),
    queryFn: async () => {
      const { data } = await manage.app(appId).webhooks.listDeliveries(webhookId, { limit: 1 })
      return data[0] ?? null
    },
    refetchInterval: LOOK_AGAIN_MS,
  }).data
}

export function WebhookState({ webhook }: { webhook: Pick<Webhook, 'id' | 'enabled'> }) {
  const last = useLastDelivery(webhook.id)
  if (!webhook.enabled) return <Status>Disabled</Status>
  if (last && !last.success) return <Status tone="bad">Failing</Status>
  return <Status tone="good">Active</Status>
}

/** What came of a try: the status of the answer, or why there was none. */
export const Outcome = ({ of }: { of: Delivery }) => (
  <Status tone={of.success ? 'good' : 'bad'}>{of.status ?? of.error ?? 'No answer'}</Status>
)
