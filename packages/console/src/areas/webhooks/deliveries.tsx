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
import { type Delivery, LOOK_AGAIN_MS, Outcome } from './state.tsx'

const route = getRouteApi('/apps/$appId/webhooks/$webhookId')

/** What was tried in the last seven days, newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const appId = useAppId()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const failed = search.failed !== undefined
  const [open, setOpen] = useState<Delivery>()
  const tries = useSteps(
    appKey(appId, 'webhooks', webhook.id, 'deliveries', failed),
    (before) =>
      manage.app(appId).webhooks.listDeliveries(webhook.id, {
        limit: 100,
        failed,
        ...(before !== undefined && { before }),
      }),
    LOOK_AGAIN_MS,
  )
  // By type among what was read: the interface knows no such filter.
  const types = [...new Set(tries.rows.map(({ type }) => type))].sort()
  const rows = search.type ? tries.rows.filter(({ type }) => type === search.type) : tries.rows
  const filters: Filters = {
    failed: { label: 'Only failed ones', kind: 'flag' },
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
        list={{ ...tries, rows }}
        id={({ id }) => id}
        text={(row) => `${row.type} ${row.status ?? row.error ?? ''}`}
        onOpen={(id) => setOpen(rows.find((row) => row.id === id))}
        columns={[
          { name: 'Event', cell: (row) => <code className="clip">{row.type}</code>, width: '2fr' },
          { name: 'Outcome', cell: (row) => <Outcome of={row} />, width: 110 },
          { name: 'Position', cell: (row) => row.position, end: true, wide: true, width: 110 },
          { name: 'Try', cell: (row) => row.try, end: true, wide: true, width: 80 },
          {
            name: 'Took',
            cell: (row) => `${row.durationMs} ms`,
            end: true,
            wide: true,
            width: 110,
          },
          { name: 'When', cell: (row) => <Time at={row.at} />, width: 120 },
        ]}
        empty={
          search.type ? (
            <Empty title="No call for this event">
              None in the last seven days{failed && ' has failed'}. Remove the filter to see others.
            </Empty>
          ) : failed ? (
            <Empty title="No call failed">In the last seven days all went well.</Empty>
          ) : (
            <Empty title="Nothing was sent yet">
              {webhook.triggers.length === 0
                ? 'This webhook is called for nothing: edit it, and choose some events.'
                : 'The next event of its triggers shows here by itself.'}
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
        {open && <OneDelivery of={open} webhook={webhook} onDone={() => setOpen(undefined)} />}
      </Dialog>
    </div>
  )
}

function OneDelivery(props: { of: Delivery; webhook: Webhook; onDone: () => void }) {
  const { of, webhook, onDone } = props
  const appId = useAppId()
  const replay = useReplay(webhook.id, onDone)
  const event = useQuery({
    queryKey: appKey(appId, 'events', of.position),
    queryFn: async () => {
      const { data } = await manage.app(appId).events.list({ after: of.position - 1, limit: 1 })
      return data.find(({ position }) => position === of.position) ?? null
    },
  })
  return (
    <div className="stack">
      <Facts
        of={{
          Outcome: <Outcome of={of} />,
          Address: <code>{webhook.webhookURL}</code>,
          Event: <code>{of.type}</code>,
          Try: of.try,
          When: <Time at={of.at} />,
          Took: `${of.durationMs} ms`,
        }}
      />
      <Problem error={replay.error} />
      <div className="row">
        <Button
          look="main"
          icon="reply"
          isDisabled={replay.isPending}
          onPress={() => replay.mutate({ from: of.position })}
        >
          Send again
        </Button>
      </div>
      <h3>Answer</h3>
      {of.answer ? (
        <CodeBlock label="Answer" code={of.answer} />
      ) : (
        <p className="soft">It was empty.</p>
      )}
      <h3>Event that was sent</h3>
      <Problem error={event.error} retry={event.refetch} />
      {event.data && <Json value={event.data} label="Event" />}
      {event.data === null && <p className="soft">The log holds it no longer.</p>}
    </div>
  )
}
