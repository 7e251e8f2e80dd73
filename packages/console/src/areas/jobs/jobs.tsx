import type { management } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { Json } from '../../shared/json.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts, Page } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { type Filters, queryOf } from '../../shared/search.ts'
import { Status, type Tone } from '../../shared/status.tsx'
import { useSteps } from '../../shared/steps.ts'
import { Time } from '../../shared/time.tsx'

const route = getRouteApi('/apps/$appId/jobs')

type Job = management.Job

const REFRESH_MS = 3_000
const STATES: Record<Job['state'], { label: string; tone: Tone }> = {
  ready: { label: 'Ready', tone: 'plain' },
  running: { label: 'Running', tone: 'info' },
  waiting: { label: 'Waiting', tone: 'plain' },
  blocked: { label: 'Blocked', tone: 'plain' },
  done: { label: 'Done', tone: 'good' },
  dead: { label: 'Dead', tone: 'bad' },
  cancelled: { label: 'Cancelled', tone: 'plain' },
}
const FILTERS: Filters = {
  state: {
    label: 'State',
    kind: 'choice',
    options: Object.fromEntries(Object.entries(STATES).map(([state, { label }]) => [state, label])),
  },
  name: { label: 'Job', kind: 'text', hint: 'The name of a job, such as users.sweep.' },
}

/** The app's background jobs: those that wait or run, and those that failed. */
export function Jobs() {
  const appId = useAppId()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [openId, setOpenId] = useState<string>()
  const jobs = useSteps(
    appKey(appId, 'jobs', search),
    (before) =>
      manage.jobs.list(appId, {
        limit: 100,
        ...queryOf(FILTERS, search),
        ...(before !== undefined && { before }),
      }),
    REFRESH_MS,
  )
  const open = jobs.rows.find(({ id }) => id === openId)
  return (
    <Page
      title="Jobs"
      description="Work in the background, such as the removal of a large group. Finished jobs leave the list; failed ones stay for 30 days."
    >
      <div className="toolbar">
        <FilterBar
          filters={FILTERS}
          search={search}
          onChange={(changes) =>
            void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
          }
        />
      </div>
      <DataTable
        label="Jobs"
        list={jobs}
        id={({ id }) => id}
        text={({ name }) => name}
        onOpen={setOpenId}
        columns={[
          { name: 'Job', cell: ({ name }) => <code className="clip">{name}</code> },
          { name: 'State', cell: (job) => <JobState job={job} />, width: 120, narrow: 104 },
          { name: 'Progress', cell: progressOf, end: true, wide: true, width: 170 },
          {
            name: 'Last error',
            cell: ({ error }) => <span className="clip">{error}</span>,
            width: '2fr',
            wide: true,
          },
          {
            name: 'Created',
            cell: ({ createdAt }) => <Time at={createdAt} />,
            ...{ width: 130, narrow: 104 },
          },
        ]}
        empty={
          <Empty title="No jobs">
            {Object.keys(search).length > 0
              ? 'No jobs match your filters. Remove a filter to see more.'
              : 'Nothing runs in the background for this app right now.'}
          </Empty>
        }
      />
      <Dialog
        wide
        title={open?.name ?? ''}
        isOpen={open !== undefined}
        onClose={() => setOpenId(undefined)}
      >
        {open && <WholeJob job={open} />}
      </Dialog>
    </Page>
  )
}

function JobState({ job: { state, cancelling } }: { job: Job }) {
  const { label, tone } = STATES[state]
  return cancelling ? <Status tone="warn">Cancelling</Status> : <Status tone={tone}>{label}</Status>
}

function progressOf({ progress }: Job): string {
  if (!progress) return ''
  const { done, total } = progress
  const shown = done.toLocaleString('en')
  return total === undefined ? shown : `${shown} of ${total.toLocaleString('en')}`
}

function WholeJob({ job }: { job: Job }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (action: 'cancel' | 'retry') => manage.jobs[action](appId, job.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: appKey(appId, 'jobs') }),
  })
  const canRetry = job.state === 'dead' || job.state === 'cancelled'
  const canCancel = !canRetry && job.state !== 'done' && !job.cancelling
  return (
    <div className="stack">
      <Facts
        facts={{
          State: <JobState job={job} />,
          ID: <code>{job.id}</code>,
          Progress: progressOf(job) || undefined,
          Tries: job.tries,
          Created: <Time at={job.createdAt} />,
          ...(job.endedAt === undefined
            ? { Due: <Time at={job.runAt} /> }
            : { Ended: <Time at={job.endedAt} /> }),
          'Last error': job.error,
        }}
      />
      <h3>Input</h3>
      <Json value={job.input} label="Input" />
      <Problem error={change.error} />
      <div className="toolbar">
        {canCancel && (
          <Button isDisabled={change.isPending} onPress={() => change.mutate('cancel')}>
            Cancel job
          </Button>
        )}
        {canRetry && (
          <Button isDisabled={change.isPending} onPress={() => change.mutate('retry')}>
            Retry from its last checkpoint
          </Button>
        )}
      </div>
    </div>
  )
}
