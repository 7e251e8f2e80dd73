import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../shared/button.tsx'
import { manage } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'

const BROWSERS = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'] as const
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Macintosh', 'Linux'] as const
const NAMES: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', Macintosh: 'macOS' }

/** `Chrome, Linux`, or the whole user agent if neither is recognized. */
function deviceOf(userAgent: string): string {
  const found = [BROWSERS, SYSTEMS].flatMap(
    (names) => names.find((name) => userAgent.includes(name)) ?? [],
  )
  return found.map((name) => NAMES[name] ?? name).join(', ') || userAgent || 'Unknown device'
}

export function Sessions() {
  const queries = useQueryClient()
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: () => manage.sessions.list({ perPage: 100 }),
  })
  const onSuccess = async () => {
    await queries.invalidateQueries({ queryKey: ['sessions'] })
    toast('Signed out')
  }
  const end = useMutation({ mutationFn: (id: string) => manage.sessions.delete(id), onSuccess })
  const endOthers = useMutation({ mutationFn: () => manage.sessions.endOther(), onSuccess })
  const rows = sessions.data?.data ?? []
  return (
    <Panel title="Sessions" about="Devices where you're signed in.">
      {sessions.isPending && <Skeleton lines={2} />}
      <Problem error={sessions.error ?? end.error ?? endOthers.error} />
      <ul>
        {rows.map(({ id, current, userAgent, address, seenAt }) => (
          <li key={id} className="entry">
            <span>
              {deviceOf(userAgent)}
              <small>
                {address} · last used <Time at={seenAt} />
              </small>
            </span>
            {current ? (
              <Status tone="good">This device</Status>
            ) : (
              <Button
                aria-label={`Sign out ${deviceOf(userAgent)}, ${address}`}
                onPress={() => end.mutate(id)}
              >
                Sign out
              </Button>
            )}
          </li>
        ))}
      </ul>
      {rows.length > 1 && (
        <div className="form-end">
          <Button onPress={() => endOthers.mutate()}>Sign out all other devices</Button>
        </div>
      )}
    </Panel>
  )
}
