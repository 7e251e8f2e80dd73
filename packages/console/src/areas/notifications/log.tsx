import type { NotificationLog } from '@loquat/sdk'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { Json } from '../../shared/json.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { recordsOf } from '../../shared/records.ts'
import { queryOf } from '../../shared/search.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { LOG_FILTERS } from './filters.ts'
import { CHANNELS, providerName, wordsFor } from './reasons.ts'

const route = getRouteApi('/apps/$appId/notifications')

/** Who was notified of what, newest first, with the reasons. */
export function NotificationLogs() {
  const appId = useAppId()
  const { tab: _tab, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const [openId, setOpenId] = useState<string>()
  const { notificationTriggered: outcome, ...filters } = queryOf(LOG_FILTERS, search)
  const triggered = outcome === undefined ? {} : { notificationTriggered: outcome === 'true' }
  const list = useInfiniteQuery({
    queryKey: appKey(appId, 'notifications', 'log', { ...search }),
    queryFn: ({ pageParam }) =>
      manage.app(appId).notificationLogs.list({
        ...filters,
        ...triggered,
        ...(pageParam && { affix: 'append' as const, logId: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next?.logId,
  })
  const logs = { ...recordsOf(list), total: undefined }
  const open = logs.rows.find(({ _id }) => _id === openId)
  const isFiltered = Object.keys(search).length > 0
  return (
    <div className="stack">
      <LogSwitch />
      <div className="toolbar">
        <FilterBar
          filters={LOG_FILTERS}
          search={search}
          onChange={(changes) =>
            void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
          }
        />
      </div>
      <DataTable
        label="Notifications"
        list={logs}
        id={({ _id }) => _id}
        text={({ uid, reason }) => `${uid} ${reason ?? ''}`}
        onOpen={setOpenId}
        columns={[
          { name: 'User', cell: ({ uid }) => <code className="clip">{uid}</code> },
          { name: 'Result', cell: (log) => <Outcome log={log} />, width: 120 },
          {
            name: 'Reason',
            cell: ({ reason }) => <span className="clip">{reason && wordsFor(reason)}</span>,
            width: '2fr',
            wide: true,
          },
          {
            name: 'Event',
            cell: ({ trigger }) => <code className="clip">{trigger}</code>,
            wide: true,
          },
          {
            name: 'Channel',
            cell: ({ channel, provider }) => (
              <span className="clip">{provider ? providerName(provider) : CHANNELS[channel]}</span>
            ),
            wide: true,
            width: 110,
          },
          {
            name: 'Time',
            cell: ({ processingEndedAtMS: at }) => <Time at={Math.floor(at / 1000)} />,
            width: 120,
            narrow: 104,
          },
        ]}
        empty={
          isFiltered ? (
            <Empty title="Nothing found">Remove a filter to see more.</Empty>
          ) : (
            <Empty title="Nothing logged">
              Start the log, and every decision about a notification appears here for 14 days.
            </Empty>
          )
        }
      />
      <Dialog
        wide
        title={`Notification of ${open?.uid ?? ''}`}
        isOpen={open !== undefined}
        onClose={() => setOpenId(undefined)}
      >
        {open && <WholeLog log={open} />}
      </Dialog>
    </div>
  )
}

function Outcome({ log }: { log: NotificationLog }) {
  const { notificationTriggered, success } = log
  if (!notificationTriggered) return <Status>Not notified</Status>
  if (success === undefined) return <Status tone="info">Sent</Status>
  return <Status tone={success ? 'good' : 'bad'}>{success ? 'Delivered' : 'Failed'}</Status>
}

function WholeLog({ log }: { log: NotificationLog }) {
  const { reason, payload, provider, providerId } = log
  return (
    <div className="stack">
      <Facts
        facts={{
          Result: <Outcome log={log} />,
          Reason: reason && (
            <>
              {wordsFor(reason)} <code>{reason}</code>
            </>
          ),
          Event: <code>{log.trigger}</code>,
          Message: log.messageId && <code>{log.messageId}</code>,
          Sender: <code>{log.sender}</code>,
          'Sent to': <code>{log.receiver}</code>,
          Channel: CHANNELS[log.channel],
          Provider: provider && `${providerName(provider)}${providerId ? ` (${providerId})` : ''}`,
          Device: log.platform && (
            <>
              <code>{log.platform}</code> {log.pushToken}
            </>
          ),
          Time: <Time at={Math.floor(log.processingEndedAtMS / 1000)} />,
          Duration: `${log.totalProcessingTimeInMS} ms`,
        }}
      />
      {payload && (
        <>
          <h3>Payload</h3>
          <Json value={payload} label="Payload" />
        </>
      )}
    </div>
  )
}

/** Logging stops by itself. */
function LogSwitch() {
  const appId = useAppId()
  const queries = useQueryClient()
  const queryKey = appKey(appId, 'notifications', 'logging')
  const settings = useQuery({
    queryKey,
    queryFn: () => manage.app(appId).notificationLogs.getSettings(),
  })
  const change = useMutation({
    mutationFn: (enabled: boolean) =>
      manage.app(appId).notificationLogs.updateSettings({ enabled }),
    onSuccess: (changed) => {
      queries.setQueryData(queryKey, changed)
      toast(changed.enabled ? 'Logging for seven days' : 'Logging stopped')
    },
  })
  const { enabled = false, until } = settings.data ?? {}
  return (
    <section className="panel log-switch">
      <span>
        {enabled ? <Status tone="good">Logging</Status> : <Status>Not logging</Status>}{' '}
        {enabled && until !== undefined ? (
          <>
            Stops <Time at={Math.floor(until / 1000)} />.
          </>
        ) : (
          'Logs every decision for seven days, with the texts of messages.'
        )}
      </span>
      <Problem error={settings.error ?? change.error} />
      {settings.data && (
        <Button
          look={enabled ? undefined : 'main'}
          isDisabled={change.isPending}
          onPress={() => change.mutate(!enabled)}
        >
          {enabled ? 'Stop logging' : 'Start logging'}
        </Button>
      )}
    </section>
  )
}
