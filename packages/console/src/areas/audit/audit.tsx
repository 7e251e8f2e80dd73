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

export type Entry = management.ListAppAuditEntriesAnswer['data'][number]

/** What operators did to the app and its data. */
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
    action: { label: 'Operation', kind: 'text', hint: 'As the interface calls it: createApiKey.' },
    operator: { label: 'Who', kind: 'choice', options: Object.fromEntries(people) },
    from: { label: 'From', kind: 'time' },
    to: { label: 'Until', kind: 'time' },
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
      title="Audit"
      description="Every write of an operator, with what was there before and after. Entries cannot be changed or removed."
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
          <Empty title="No entry">
            {Object.keys(search).length > 0
              ? 'Nothing passes these filters: remove some of them.'
              : 'What you and your team change shows here.'}
          </Empty>
        }
      />
    </Page>
  )
}

/** A list of entries; a row opens all of one. */
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
          { name: 'Who', cell: (entry) => <span className="clip">{whoOf(entry)}</span> },
          {
            name: 'On',
            cell: ({ target }) => <span className="clip">{Object.values(target).join(' ')}</span>,
            wide: true,
          },
          { name: 'Outcome', cell: (entry) => <EntryStatus of={entry} />, wide: true, width: 130 },
          { name: 'When', cell: ({ at }) => <Time at={at} />, width: 130 },
        ]}
        empty={empty}
      />
      <Dialog
        wide
        title={open?.action ?? ''}
        isOpen={open !== undefined}
        onClose={() => setOpen(undefined)}
      >
        {open && <WholeEntry of={open} />}
      </Dialog>
    </>
  )
}

const whoOf = ({ operator, via }: Entry) => operator?.email ?? via

/** Writes of an app's data say how they were answered; all others are there because they were done. */
function EntryStatus({ of: { status } }: { of: Entry }) {
  if (status === undefined) return null
  return <Status tone={status < 400 ? 'good' : 'bad'}>{status}</Status>
}

function WholeEntry({ of }: { of: Entry }) {
  return (
    <div className="stack">
      <Facts
        of={{
          Who: whoOf(of),
          By: of.via,
          When: <Time at={of.at} />,
          From: of.address,
          With: of.userAgent,
          ...(of.status !== undefined && { Outcome: <EntryStatus of={of} /> }),
        }}
      />
      {Object.keys(of.target).length > 0 && <Part title="On" value={of.target} />}
      {of.before !== undefined && <Part title="Before" value={of.before} />}
      {of.after !== undefined && <Part title="After" value={of.after} />}
    </div>
  )
}

const Part = ({ title, value }: { title: string; value: unknown }) => (
  <>
    <h3>{title}</h3>
    <Json value={value} label={title} />
  </>
)
