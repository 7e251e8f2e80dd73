import type { Webhook } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { CodeBlock } from '../../shared/copyable.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { Json } from '../../shared/json.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import type { Filters } from '../../shared/search.ts'
import { useSteps } from '../../shared/steps.ts'
import { Time } from '../../shared/time.tsx'
import { useReplay } from './replay.tsx'
import { type Delivery, Outcome, REFRESH_MS } from './state.tsx'

const route = getRouteApi('/apps/$appId/webhooks/$webhookId')

/** The delivery attempts of the last seven days, newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const appId = useAppId()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const failed = search.failed !== undefined
  const [open, setOpen] = useState<Delivery>()
  const attempts = useSteps(
    appKey(appId, 'webhooks', webhook.id, 'deliveries', failed),
    (before) =>
      manage.app(appId).webhooks.listDeliveries(webhook.id, {
        limit: 100,
        failed,
        ...(before !== undefined && { before }),
      }),
    REFRESH_MS,
  )
  // The API can't filter by event type, so this filters the loaded rows.
  const types = [...new Set(attempts.rows.map(({ type }) => type))].sort()
  const rows = search.type
    ? attempts.rows.filter(({ type }) => type === search.type)
    : attempts.rows
  const filters: Filters = {
    failed: { label: 'Failed only', kind: 'flag' },
    type: {
      label: 'Event',
      kind: 'choice',
      options: Object.fromEntries(types.map((type) => [type, type])),
    },
  }
  return (
    <div className="stack">
      <div className="toolbar">
        <FilterBar
          filters={filters}
          search={search}
          onChange={(changes) =>
            void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
          }
        />
      </div>
      <DataTable
        label="Deliveries"
        list={{ ...attempts, rows }}
        id={({ id }) => id}
        text={(row) => `${row.type} ${row.status ?? row.error ?? ''}`}
        onOpen={(id) => setOpen(rows.find((row) => row.id === id))}
        columns={[
          { name: 'Event', cell: (row) => <code className="clip">{row.type}</code>, width: '2fr' },
          { name: 'Result', cell: (row) => <Outcome delivery={row} />, width: 110, narrow: 92 },
          { name: 'Position', cell: (row) => row.position, end: true, wide: true, width: 110 },
          { name: 'Attempt', cell: (row) => row.try, end: true, wide: true, width: 80 },
          {
            name: 'Duration',
            cell: (row) => `${row.durationMs} ms`,
            end: true,
            wide: true,
            width: 110,
          },
          { name: 'Time', cell: (row) => <Time at={row.at} />, width: 120, narrow: 104 },
        ]}
        empty={
          search.type ? (
            <Empty title={failed ? 'No failed calls for this event' : 'No calls for this event'}>
              There are none in the last seven days. Remove a filter to see more.
            </Empty>
          ) : failed ? (
            <Empty title="No failed calls">All calls in the last seven days succeeded.</Empty>
          ) : (
            <Empty title="No deliveries yet">
              {webhook.triggers.length === 0
                ? 'This webhook has no triggers. Edit it and choose the events to send.'
                : 'Deliveries appear here as soon as a matching event occurs.'}
            </Empty>
          )
        }
      />
      <Dialog
        wide
        title={`Delivery of event ${open?.position ?? ''}`}
        isOpen={open !== undefined}
        onClose={() => setOpen(undefined)}
      >
        {open && (
          <OneDelivery delivery={open} webhook={webhook} onDone={() => setOpen(undefined)} />
        )}
      </Dialog>
    </div>
  )
}

function OneDelivery(props: { delivery: Delivery; webhook: Webhook; onDone: () => void }) {
  const { delivery, webhook, onDone } = props
  const appId = useAppId()
  const replay = useReplay(webhook.id, onDone)
  const event = useQuery({
    queryKey: appKey(appId, 'events', delivery.position),
    queryFn: async () => {
      const { data } = await manage
        .app(appId)
        .events.list({ after: delivery.position - 1, limit: 1 })
      return data.find(({ position }) => position === delivery.position) ?? null
    },
  })
  return (
    <div className="stack">
      <Facts
        facts={{
          Result: <Outcome delivery={delivery} />,
          URL: <code>{webhook.webhookURL}</code>,
          Event: <code>{delivery.type}</code>,
          Attempt: delivery.try,
          Time: <Time at={delivery.at} />,
          Duration: `${delivery.durationMs} ms`,
        }}
      />
      <Problem error={replay.error} />
      <div className="row">
        <Button
          look="main"
          icon="reply"
          isDisabled={replay.isPending}
          onPress={() => replay.mutate({ from: delivery.position })}
        >
          Resend
        </Button>
      </div>
      <h3>Response</h3>
      {delivery.answer ? (
        <CodeBlock label="Response" code={delivery.answer} />
      ) : (
        <p className="soft">The response was empty.</p>
      )}
      <h3>Event</h3>
      <Problem error={event.error} retry={event.refetch} />
      {event.data && <Json value={event.data} label="Event" />}
      {event.data === null && <p className="soft">This event is no longer in the event log.</p>}
    </div>
  )
}
