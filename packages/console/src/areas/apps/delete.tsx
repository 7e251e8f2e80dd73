import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { appKey, manage, useApp } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import { toast } from '../../shared/toasts.tsx'

/** Refetches everything about the app after a change to it. */
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
    <Panel
      title="Delete app"
      about="The app stops working immediately. You can restore it within 30 days."
    >
      <ConfirmByName
        what="Delete app"
        name={name}
        about={`All API keys, auth tokens, and webhooks of ${name} stop working within a second.`}
        act={async () => {
          await manage.apps.delete(appId)
          // A deleted app has no settings page. Its home page offers to restore it.
          await navigate({ to: '/apps/$appId', params: { appId } })
          await changed()
          toast(`Deleted ${name}`)
        }}
      />
    </Panel>
  )
}
