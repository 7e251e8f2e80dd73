import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { manage } from '../../shared/manage.ts'
import { Copyable, Destroy, day, Problem } from '../../shared/parts.tsx'

const useApp = () => {
  const { appId } = useParams({ strict: false }) as { appId: string }
  const app = useQuery({ queryKey: ['app', appId], queryFn: () => manage.apps.get(appId) })
  return { appId, app }
}

/** What all pages of an app share. */
export function AppFrame() {
  const { appId, app } = useApp()
  const params = { appId }
  return (
    <main>
      <h1>{app.data?.name ?? appId}</h1>
      <Problem error={app.error} />
      <nav aria-label="App">
        <Link to="/apps/$appId" params={params} activeOptions={{ exact: true }}>
          Home
        </Link>
        <Link to="/apps/$appId/keys" params={params}>
          API keys
        </Link>
        <Link to="/apps/$appId/users" params={params}>
          Users
        </Link>
      </nav>
      <Outlet />
    </main>
  )
}

/** The three things to copy, and a call that works as it is. */
export function AppHome() {
  const queries = useQueryClient()
  const { appId, app } = useApp()
  const active = app.data?.state === 'active'
  const keys = useQuery({
    queryKey: ['keys', appId],
    queryFn: () => manage.app(appId).apiKeys.list({ scope: 'fullAccess' }),
    enabled: active && app.data?.role !== 'moderator',
  })
  const key = keys.data?.data.at(-1)?.apiKey
  const changed = () => queries.invalidateQueries({ queryKey: ['app', appId] })
  const remove = useMutation({ mutationFn: () => manage.apps.delete(appId), onSuccess: changed })
  const restore = useMutation({ mutationFn: () => manage.apps.restore(appId), onSuccess: changed })
  if (!app.data) return null
  const { baseUrl, region, name, role, scheduledToDeleteAt } = app.data
  if (scheduledToDeleteAt !== undefined) {
    return (
      <section className="panel">
        <p>This app was deleted. All of it goes on {day(scheduledToDeleteAt)}.</p>
        <Problem error={restore.error} />
        {role === 'owner' && (
          <button type="button" onClick={() => restore.mutate()}>
            Restore
          </button>
        )}
      </section>
    )
  }
  return (
    <>
      <section className="panel">
        <h2>Connect</h2>
        <Copyable label="App id" value={appId} />
        <Copyable label="Region" value={region} />
        {key && <Copyable label="API key" value={key} />}
        {key && <Copyable label="Try it" value={`curl -H 'apikey: ${key}' ${baseUrl}/users`} />}
        <Problem error={keys.error} />
      </section>
      {role === 'owner' && (
        <section className="panel">
          <h2>Delete</h2>
          <p>Nothing answers from then on. For 30 days the app can be restored.</p>
          <Destroy what="Delete app" name={name} onConfirm={() => remove.mutate()} />
          <Problem error={remove.error} />
        </section>
      )}
    </>
  )
}
