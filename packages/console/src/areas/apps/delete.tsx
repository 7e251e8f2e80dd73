import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { appKey, manage, useApp } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import { toast } from '../../shared/toasts.tsx'

/** The app is another: whatever was read of it is read again. */
export function useAppChanged() {
  const queries = useQueryClient()
  const { appId } = useApp()
  return async () => {
    await queries.invalidateQueries({ queryKey: appKey(appId) })
    await queries.invalidateQueries({ queryKey: ['apps'] })
  }
}

export function DeleteApp() {
  const { appId, app } = useApp()
  const changed = useAppChanged()
  const navigate = useNavigate()
  const name = app.data?.name ?? appId
  return (
    <Panel title="Delete app" about="Nothing answers from then on. For 30 days it can be restored.">
      <ConfirmByName
        what="Delete app"
        name={name}
        about={`All keys, tokens and webhooks of ${name} stop working within a second.`}
        act={async () => {
          await manage.apps.delete(appId)
          // Where it can be restored: settings are none of a deleted app.
          await navigate({ to: '/apps/$appId', params: { appId } })
          await changed()
          toast(`Deleted ${name}`)
        }}
      />
    </Panel>
  )
}
