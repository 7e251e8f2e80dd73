import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../shared/button.tsx'
import { manage } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'

const KNOWN = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'] as const
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Macintosh', 'Linux'] as const
const NAMES: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', Macintosh: 'macOS' }

/** `Chrome, Linux`, or what the program calls itself. */
function deviceOf(userAgent: string): string {
  const found = [KNOWN, SYSTEMS].flatMap(
    (names) => names.find((name) => userAgent.includes(name)) ?? [],
  )
  return found.map((name) => NAMES[name] ?? name).join(', ') || userAgent || 'Unknown'
}

export function Sessions() {
  const queries = useQueryClient()
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: () => manage.sessions.list({ perPage: 100 }),
  })
  const onSuccess = async () => {
    await queries.invalidateQueries({ queryKey: ['sessions'] })
    toast('Ended')
  }
  const end = useMutation({ mutationFn: (id: string) => manage.sessions.delete(id), onSuccess })
  const endOthers = useMutation({ mutationFn: () => manage.sessions.endOther(), onSuccess })
  const rows = sessions.data?.data ?? []
  return (
    <Panel title="Sessions" about="Where this account is signed in.">
      {sessions.isPending && <Skeleton lines={2} />}
      <Problem error={sessions.error ?? end.error ?? endOthers.error} />
      <ul>
        {rows.map(({ id, current, userAgent, address, seenAt }) => (
          <li key={id} className="entry">
            <span>
              {deviceOf(userAgent)}
              <small>
                {address} · used <Time at={seenAt} />
              </small>
            </span>
            {current ? (
              <Status tone="good">This one</Status>
            ) : (
              <Button
                aria-label={`End session of ${deviceOf(userAgent)}, ${address}`}
                onPress={() => end.mutate(id)}
              >
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
      {rows.length > 1 && (
        <div className="form-end">
          <Button onPress={() => endOthers.mutate()}>End all others</Button>
        </div>
      )}
    </Panel>
  )
}
