import type { Webhook } from '@loquat/sdk'
import { Button } from '../../shared/button.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { Empty } from '../../shared/empty.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import { useSteps } from '../../shared/steps.ts'
import { Time } from '../../shared/time.tsx'
import { useReplay } from './replay.tsx'

const REASONS = {
  exhausted: 'All attempts failed',
  noRetry: 'Failed, and retries are off',
  expired: 'No longer in the event log',
  unknownType: 'Unknown to the version that ran',
}

/** The webhook's dead letters of the last 30 days, by position. */
export function DeadLetters({ webhook }: { webhook: Webhook }) {
  const appId = useAppId()
  const replay = useReplay(webhook.id)
  const letters = useSteps(appKey(appId, 'webhooks', webhook.id, 'dead-letters'), (after) =>
    manage.app(appId).webhooks.listDeadLetters(webhook.id, {
      limit: 100,
      ...(after !== undefined && { after }),
    }),
  )
  return (
    <div className="stack">
      <Problem error={replay.error} />
      <DataTable
        label="Dead letters"
        list={letters}
        id={({ position }) => String(position)}
        text={({ position }) => `Event ${position}`}
        columns={[
          {
            name: 'Event',
            cell: ({ type, count }) => <code className="clip">{type ?? `${count} events`}</code>,
            width: '2fr',
          },
          { name: 'Position', cell: ({ position }) => position, end: true },
          { name: 'Reason', cell: ({ reason }) => REASONS[reason], width: '2fr', wide: true },
          { name: 'Time', cell: ({ at }) => <Time at={at} />, wide: true },
          {
            name: 'Actions',
            end: true,
            cell: ({ position, count, reason }) =>
              reason !== 'expired' && (
                <Button
                  isDisabled={replay.isPending}
                  onPress={() => replay.mutate({ from: position, to: position + count - 1 })}
                >
                  Resend
                </Button>
              ),
          },
        ]}
        empty={
          <Empty title="No dead letters">
            Events that couldn't be delivered in the last 30 days appear here.
          </Empty>
        }
      />
    </div>
  )
}
