import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '../../shared/button.tsx'
import { CodeBlock, Copyable } from '../../shared/copyable.tsx'
import { useCurl, useExampleKey } from '../../shared/curl.ts'
import { manage, useApp } from '../../shared/manage.ts'
import { Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { day } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAppChanged } from './delete.tsx'
import { FirstSteps } from './first-steps.tsx'
import './apps.css'

/** What an API call needs, a command to try, and the next steps. */
export function AppHome() {
  const { appId, app, role } = useApp()
  const { key, keys } = useExampleKey()
  const curl = useCurl()
  if (!app.data) {
    return (
      <Page title="Home">
        {app.error ? <Problem error={app.error} retry={app.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  const { region, name, scheduledToDeleteAt } = app.data
  if (scheduledToDeleteAt !== undefined) return <Deleted at={scheduledToDeleteAt} />
  return (
    <Page title="Home" heading={name} description={`Region: ${region.toUpperCase()}`}>
      <div className="home">
        <div className="stack">
          <Panel title="Connect" about="You need these values to call the API.">
            <Copyable label="App ID" value={appId} />
            <Copyable label="Region" value={region} />
            {key && <Copyable label="API key" value={key} />}
            <Problem error={keys.error} retry={keys.refetch} />
            <a href={`../apps/${appId}/v3/docs`}>API reference</a>
          </Panel>
          {role !== 'moderator' && (
            <Panel
              title="Try it"
              about={
                keys.data && !key
                  ? 'You need an API key with the fullAccess scope.'
                  : 'Paste this command into a terminal to list the users of this app.'
              }
            >
              {key && <CodeBlock label="Command" code={curl('/users')} />}
              {keys.isPending && <Skeleton lines={1} />}
              {keys.data && !key && (
                <Link to="/apps/$appId/keys" params={{ appId }}>
                  Create an API key
                </Link>
              )}
            </Panel>
          )}
        </div>
        <div className="stack">
          <FirstSteps />
        </div>
      </div>
    </Page>
  )
}

function Deleted({ at }: { at: number }) {
  const { appId, app, role } = useApp()
  const changed = useAppChanged()
  const restore = useMutation({
    mutationFn: () => manage.apps.restore(appId),
    onSuccess: async () => {
      await changed()
      toast('App restored')
    },
  })
  return (
    <Page title="Home" heading={app.data?.name ?? appId}>
      <Panel
        title="This app was deleted"
        about={`The app no longer works. All of its data will be deleted on ${day(at)}.`}
      >
        <Problem error={restore.error} />
        {role === 'owner' ? (
          <Button look="main" isDisabled={restore.isPending} onPress={() => restore.mutate()}>
            Restore app
          </Button>
        ) : (
          <p className="soft">The owner can restore it.</p>
        )}
      </Panel>
    </Page>
  )
}
