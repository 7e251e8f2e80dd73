import type { management } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { Json } from '../../shared/json.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts, Page } from '../../shared/page.tsx'
import { type Filters, queryOf } from '../../shared/search.ts'
import { Status } from '../../shared/status.tsx'
import { useSteps } from '../../shared/steps.ts'
import { Time } from '../../shared/time.tsx'

const route = getRouteApi('/apps/$appId/audit')

export type Entry = management.AuditEntry

/** The audit log: what operators did to the app and its data. */
export function Audit() {
  const appId = useAppId()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const team = useQuery({
    queryKey: appKey(appId, 'team'),
    queryFn: () => manage.collaborators.list(appId, { perPage: 100 }),
  })
  const people = team.data?.data.flatMap(({ id, email }) => (id ? [[id, email]] : [])) ?? []
  const filters: Filters = {
    action: { label: 'Operation', kind: 'text', hint: 'An operation ID, such as createApiKey.' },
    operator: { label: 'Operator', kind: 'choice', options: Object.fromEntries(people) },
    from: { label: 'From', kind: 'time' },
    to: { label: 'To', kind: 'time' },
  }
  const { operator, ...query } = queryOf(filters, search)
  const entries = useSteps(appKey(appId, 'audit', search), (before) =>
    manage.auditEntries.listApp(appId, {
      limit: 100,
      ...query,
      ...(operator !== undefined && { operator: Number(operator) }),
      ...(before !== undefined && { before }),
    }),
  )
  return (
    <Page
      title="Audit log"
      description="Every change that operators made, with the values before and after. Entries can't be edited or deleted."
    >
      <div className="toolbar">
        <FilterBar
          filters={filters}
          search={search}
          onChange={(changes) =>
            void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
          }
        />
      </div>
      <EntryTable
        entries={entries}
        empty={
          <Empty title="No entries">
            {Object.keys(search).length > 0
              ? 'No entries match your filters. Remove a filter to see more.'
              : 'Changes that you and your team make appear here.'}
          </Empty>
        }
      />
    </Page>
  )
}

/** A table of entries. A click on a row shows the whole entry. */
export function EntryTable(props: {
  entries: ReturnType<typeof useSteps<Entry>>
  empty: ReactNode
}) {
  const { entries, empty } = props
  const [open, setOpen] = useState<Entry>()
  return (
    <>
      <DataTable
        label="Audit entries"
        list={entries}
        id={({ id }) => id}
        text={({ action }) => action}
        onOpen={(id) => setOpen(entries.rows.find((entry) => entry.id === id))}
        columns={[
          { name: 'Operation', cell: ({ action }) => <code className="clip">{action}</code> },
          {
            name: 'Operator',
            cell: (entry) => <span className="clip">{actorOf(entry)}</span>,
            wide: true,
          },
          {
            name: 'Target',
            cell: ({ target }) => <span className="clip">{Object.values(target).join(' ')}</span>,
            wide: true,
          },
          {
            name: 'Status',
            cell: (entry) => <EntryStatus entry={entry} />,
            wide: true,
            width: 130,
          },
          { name: 'Time', cell: ({ at }) => <Time at={at} />, width: 130, narrow: 104 },
        ]}
        empty={empty}
      />
      <Dialog
        wide
        title={open?.action ?? ''}
        isOpen={open !== undefined}
        onClose={() => setOpen(undefined)}
      >
        {open && <WholeEntry entry={open} />}
      </Dialog>
    </>
  )
}

const actorOf = ({ operator, via }: Entry) => operator?.email ?? via

/** Only writes to an app's data have a status. The log records all other operations only if they succeeded. */
function EntryStatus({ entry: { status } }: { entry: Entry }) {
  if (status === undefined) return null
  return <Status tone={status < 400 ? 'good' : 'bad'}>{status}</Status>
}

function WholeEntry({ entry }: { entry: Entry }) {
  return (
    <div className="stack">
      <Facts
        facts={{
          Operator: actorOf(entry),
          Source: entry.via,
          Time: <Time at={entry.at} />,
          'IP address': entry.address,
          'User agent': entry.userAgent,
          ...(entry.status !== undefined && { Status: <EntryStatus entry={entry} /> }),
        }}
      />
      {Object.keys(entry.target).length > 0 && <Part title="Target" value={entry.target} />}
      {entry.before !== undefined && <Part title="Before" value={entry.before} />}
      {entry.after !== undefined && <Part title="After" value={entry.after} />}
    </div>
  )
}

const Part = ({ title, value }: { title: string; value: unknown }) => (
  <>
    <h3>{title}</h3>
    <Json value={value} label={title} />
  </>
)
