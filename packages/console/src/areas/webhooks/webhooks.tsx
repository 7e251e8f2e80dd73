import type { Webhook } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { CreateWebhook } from './form.tsx'
import { useLastDelivery, WebhookState } from './state.tsx'
import './webhooks.css'

/** An app has at most 25 webhooks, so one page shows them all. */
const ALL = { perPage: 100 }

export function Webhooks() {
  const appId = useAppId()
  const webhooks = useQuery({
    queryKey: appKey(appId, 'webhooks'),
    queryFn: () => manage.app(appId).webhooks.list(ALL),
  })
  const rows = webhooks.data?.data ?? []
  const create = (
    <Dialog
      wide
      title="Create webhook"
      trigger={
        <Button look="main" icon="plus">
          Create webhook
        </Button>
      }
    >
      <CreateWebhook />
    </Dialog>
  )
  return (
    <Page
      title="Webhooks"
      description="Send the events of this app to your server. Calls are signed, sent in order, and retried if they fail."
      actions={create}
    >
      {webhooks.isPending && <Skeleton lines={3} />}
      <Problem error={webhooks.error} retry={webhooks.refetch} />
      {webhooks.isSuccess && rows.length === 0 && (
        <Empty title="No webhooks yet">
          Create a webhook with a URL of your server and the events to send. Your server verifies
          each call with the webhook's secret.
        </Empty>
      )}
      <ul className="stack">
        {rows.map((webhook) => (
          <WebhookCard key={webhook.id} webhook={webhook} />
        ))}
      </ul>
    </Page>
  )
}

function WebhookCard({ webhook }: { webhook: Webhook }) {
  const appId = useAppId()
  const last = useLastDelivery(webhook.id)
  const { id, name, webhookURL, triggers } = webhook
  return (
    <li className="panel webhook-card">
      <div className="row">
        <Link to="/apps/$appId/webhooks/$webhookId" params={{ appId, webhookId: id }} dir="auto">
          {name}
        </Link>
        <WebhookState webhook={webhook} />
        {triggers.length === 0 && <Status tone="warn">No triggers</Status>}
      </div>
      <code className="clip">{webhookURL}</code>
      <p className="soft">
        {triggers.length === 1 ? '1 trigger' : `${triggers.length} triggers`}
        {last && (
          <>
            {' · last call '}
            <Time at={last.at} />
          </>
        )}
        {last === null && ' · no calls in the last seven days'}
      </p>
    </li>
  )
}
