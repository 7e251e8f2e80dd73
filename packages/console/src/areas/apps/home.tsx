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

/** The three things to copy, a call that works as it is, and what to do next. */
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
  const { region, name, appRegion, scheduledToDeleteAt } = app.data
  if (scheduledToDeleteAt !== undefined) return <Deleted at={scheduledToDeleteAt} />
  return (
    <Page title="Home" heading={name} description={`${appRegion.name} · ${appRegion.description}`}>
      <div className="home">
        <div className="stack">
          <Panel title="Connect" about="What every call needs.">
            <Copyable label="App id" value={appId} />
            <Copyable label="Region" value={region} />
            {key && <Copyable label="API key" value={key} />}
            <Problem error={keys.error} retry={keys.refetch} />
          </Panel>
          {role !== 'moderator' && (
            <Panel
              title="Try it"
              about={
                keys.data && !key
                  ? 'A call needs a key with full access, and none is left.'
                  : 'Paste this into a terminal: it lists the users of this app.'
              }
            >
              {key && <CodeBlock label="Command" code={curl('/users')} />}
              {keys.isPending && <Skeleton lines={1} />}
              {keys.data && !key && (
                <Link to="/apps/$appId/keys" params={{ appId }}>
                  Create a key
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
      toast('Restored: the app answers again')
    },
  })
  return (
    <Page title="Home" heading={app.data?.name ?? appId}>
      <Panel
        title="This app was deleted"
        about={`Nothing answers. All of its data goes on ${day(at)}.`}
      >
        <Problem error={restore.error} />
        {role === 'owner' ? (
          <Button look="main" isDisabled={restore.isPending} onPress={() => restore.mutate()}>
            Restore app
          </Button>
        ) : (
          <p className="soft">Its owner can restore it.</p>
        )}
      </Panel>
    </Page>
  )
}
