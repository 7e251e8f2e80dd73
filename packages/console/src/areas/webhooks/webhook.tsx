import type { Webhook as Record } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Copyable } from '../../shared/copyable.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts, Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Tags } from '../../shared/status.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { day, Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { Deliveries } from './deliveries.tsx'
import { EditWebhook } from './form.tsx'
import { Replay } from './replay.tsx'
import { WebhookState } from './state.tsx'
import './webhooks.css'

const route = getRouteApi('/apps/$appId/webhooks/$webhookId')

export function Webhook() {
  const { appId, webhookId } = route.useParams()
  const { tab = 'deliveries' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery({
    queryKey: appKey(appId, 'webhooks', webhookId),
    queryFn: () => manage.app(appId).webhooks.get(webhookId),
  })
  if (!query.data) {
    return (
      <Page title="Webhook">
        {query.error ? (
          <Problem error={query.error} retry={query.refetch} />
        ) : (
          <Skeleton lines={3} />
        )}
      </Page>
    )
  }
  const webhook = query.data
  return (
    <Page
      title={webhook.name}
      heading={<span dir="auto">{webhook.name}</span>}
      description={<WebhookState webhook={webhook} />}
      actions={<Actions webhook={webhook} />}
    >
      <Tabs
        label="Webhook details"
        open={tab}
        onOpen={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={[
          { id: 'deliveries', name: 'Deliveries', content: <Deliveries webhook={webhook} /> },
          { id: 'dead-letters', name: 'Dead letters', content: <DeadLetters webhook={webhook} /> },
          { id: 'settings', name: 'Settings', content: <Settings webhook={webhook} /> },
        ]}
      />
    </Page>
  )
}

function Actions({ webhook }: { webhook: Record }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { id, enabled } = webhook
  const toggle = useMutation({
    mutationFn: () => manage.app(appId).webhooks.update(id, { enabled: !enabled }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'webhooks') })
      toast(
        enabled
          ? 'Webhook disabled. Events wait until you enable it again.'
          : 'Webhook enabled. Waiting events are being sent.',
      )
    },
  })
  return (
    <>
      <Problem error={toggle.error} />
      <Replay webhookId={id} />
      <Button isDisabled={toggle.isPending} onPress={() => toggle.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <Dialog wide title="Edit webhook" trigger={<Button icon="edit">Edit</Button>}>
        {(close) => <EditWebhook webhook={webhook} onDone={close} />}
      </Dialog>
    </>
  )
}

function Settings({ webhook }: { webhook: Record }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { id, name } = webhook
  return (
    <div className="stack">
      <Panel>
        <Facts
          facts={{
            ID: <code>{id}</code>,
            URL: <code>{webhook.webhookURL}</code>,
            Triggers: <Tags tags={webhook.triggers} />,
            'Basic authentication': webhook.useBasicAuth ? `On, as ${webhook.username}` : 'Off',
            Retries: webhook.retryOnFailure ? 'On, for three days' : 'Off',
            Created: <Time at={webhook.createdAt} />,
            Updated: <Time at={webhook.updatedAt} />,
          }}
        />
      </Panel>
      <RotateSecret webhookId={id} />
      <Panel title="Delete webhook" about="Its deliveries are deleted too.">
        <ConfirmByName
          what="Delete webhook"
          name={name}
          about="Loquat stops calling its URL immediately."
          act={async () => {
            await manage.app(appId).webhooks.delete(id)
            await navigate({ to: '/apps/$appId/webhooks', params: { appId } })
            await queries.invalidateQueries({ queryKey: appKey(appId, 'webhooks') })
            toast(`Deleted webhook ${name}`)
          }}
        />
      </Panel>
    </div>
  )
}

function RotateSecret({ webhookId }: { webhookId: string }) {
  const appId = useAppId()
  const rotate = useMutation({
    mutationFn: () => manage.app(appId).webhooks.rotateSecret(webhookId),
  })
  return (
    <Panel
      title="Secret"
      about="Loquat signs each call with this secret. If you lost it, create a new one."
    >
      <Problem error={rotate.error} />
      {rotate.data ? (
        <>
          <Copyable label="New secret" value={rotate.data.secret} />
          <p className="soft">
            Copy the secret now. You won't be able to see it again. Until{' '}
            {day(rotate.data.oldSecretUntil)}, calls are signed with the old secret too.
          </p>
        </>
      ) : (
        <Button isDisabled={rotate.isPending} onPress={() => rotate.mutate()}>
          Create new secret
        </Button>
      )}
    </Panel>
  )
}
