import type { AgentRevision } from '@loquat/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { differencesOf } from '../../shared/difference.ts'
import { Difference } from '../../shared/difference.tsx'
import { Choice, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { useSteps } from '../../shared/steps.ts'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged } from './data.ts'
import { fieldName } from './words.ts'

/** What the agent was like after each change, and the way back. */
export function History({ agentUid }: { agentUid: string }) {
  const appId = useAppId()
  const revisions = useSteps(
    appKey(appId, 'agents', 'revisions', agentUid),
    (before: number | undefined) =>
      manage.app(appId).agentRevisions.list(agentUid, { limit: 50, ...(before && { before }) }),
  )
  const [chosen, choose] = useState<number>()
  const { rows } = revisions
  const last = rows[0]
  const shown = rows.find(({ no }) => no === chosen) ?? last
  if (!last || !shown) {
    return (
      <Panel>
        {revisions.error ? (
          <Problem error={revisions.error} retry={revisions.retry} />
        ) : (
          <Skeleton />
        )}
      </Panel>
    )
  }
  return (
    <div className="chooser">
      <Panel title="Revisions" about="Each change makes one. Answers name the one they used.">
        <ul className="choices">
          {rows.map((revision) => (
            <li key={revision.no}>
              <AriaButton
                className="choice"
                aria-pressed={revision.no === shown.no}
                onPress={() => choose(revision.no)}
              >
                <span className="choice-head">
                  <strong>Revision {revision.no}</strong>
                  <Time at={Math.floor(revision.createdAt / 1000)} />
                </span>
                <small className="clip">{whatChanged(revision)}</small>
                <small className="clip">{revision.operator ?? byKey(revision)}</small>
              </AriaButton>
            </li>
          ))}
        </ul>
        {revisions.more && <Button onPress={() => revisions.loadMore()}>Show older</Button>}
      </Panel>
      <Compared key={shown.no} shown={shown} last={last.no} all={rows} />
    </div>
  )
}

const byKey = ({ apiKey }: AgentRevision) =>
  apiKey === undefined ? 'A key that was deleted' : `API key “${apiKey}”`

function whatChanged({ changed, restores }: AgentRevision): string {
  if (restores !== undefined) return `Restored revision ${restores}`
  return changed.length === 0 ? 'Created' : changed.map(fieldName).join(', ')
}

/** A revision beside another one. */
function Compared({
  shown,
  last,
  all,
}: {
  shown: AgentRevision
  last: number
  all: AgentRevision[]
}) {
  const { no, agentUid } = shown
  const others = all.filter((revision) => revision.no !== no)
  const before = others.find((revision) => revision.no < no) ?? others[0]
  const [against, setAgainst] = useState(String(before?.no ?? ''))
  const now = useRevision(agentUid, no)
  const other = useRevision(agentUid, against === '' ? no : Number(against))
  const error = now.error ?? other.error
  // From the older one to the newer one.
  const [older, newer] = Number(against) > no ? [now, other] : [other, now]
  const content = {
    older: against === '' ? {} : older.data?.content,
    newer: newer.data?.content,
  }
  const differences =
    content.older && content.newer ? differencesOf(content.older, content.newer) : undefined
  return (
    <Panel title={`Revision ${no}`}>
      <div className="stack">
        <div className="compare">
          {others.length > 0 && (
            <Choice
              label="Compare with"
              value={against}
              options={Object.fromEntries(
                others.map((revision) => [revision.no, `Revision ${revision.no}`]),
              )}
              onChange={setAgainst}
            />
          )}
          {no !== last && <Restore agentUid={agentUid} no={no} />}
        </div>
        <Problem error={error} />
        {!differences && !error && <Skeleton />}
        {differences?.length === 0 && <p className="soft">Both are the same.</p>}
        {differences && <Difference differences={differences} nameOf={fieldName} />}
      </div>
    </Panel>
  )
}

export function useRevision(agentUid: string, no: number) {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'agents', 'revisions', agentUid, no),
    queryFn: () => manage.app(appId).agentRevisions.get(agentUid, no),
    // It never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
}

const Restore = (props: { agentUid: string; no: number }) => (
  <Dialog title={`Restore revision ${props.no}`} trigger={<Button>Restore</Button>}>
    {(close) => <ConfirmRestore {...props} close={close} />}
  </Dialog>
)

function ConfirmRestore(props: { agentUid: string; no: number; close: () => void }) {
  const { agentUid, no, close } = props
  const appId = useAppId()
  const changed = useAgentsChanged()
  const restore = useMutation({
    mutationFn: () => manage.app(appId).agentRevisions.restore(agentUid, no),
    onSuccess: async ({ no: made, leftOut }) => {
      await changed()
      close()
      const missing = leftOut.map(({ name }) => name).join(', ')
      toast(`Restored as revision ${made}${missing && `, without ${missing}`}`)
    },
  })
  return (
    <Form mutation={restore} submit="Restore" beside={<Button onPress={close}>Cancel</Button>}>
      <p>
        The agent gets the name, instructions, model, tools and settings of revision {no}. This
        makes a new revision, so you can come back. Tools that were deleted since are left out.
      </p>
    </Form>
  )
}
