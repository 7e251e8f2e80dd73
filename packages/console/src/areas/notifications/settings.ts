import type { NotificationSettings } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

export type Value = boolean | number | string
/** Changes by the path of the field, such as `preferences.group.messagesSetting`. */
export type Draft = Record<string, Value>

export function useSettings() {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'notifications', 'settings'),
    queryFn: () => manage.app(appId).notificationSettings.get(),
  })
}

/** The value of a field. */
export const valueAt = (settings: NotificationSettings, path: string): Value | undefined =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], settings) as
    | Value
    | undefined

/** `{ 'a.b': 1 }` as `{ a: { b: 1 } }`. */
function treeOf(draft: Draft): object {
  const tree: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(draft)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    let at = tree
    for (const name of names) {
      at[name] ??= {}
      at = at[name] as Record<string, unknown>
    }
    at[last] = value
  }
  return tree
}

/** Saves the fields that changed. */
export function useSaveSettings(settings: NotificationSettings, draft: Draft, onSaved: () => void) {
  const appId = useAppId()
  const queries = useQueryClient()
  const changed = Object.fromEntries(
    Object.entries(draft).filter(([path, value]) => valueAt(settings, path) !== value),
  )
  const save = useMutation({
    mutationFn: () => manage.app(appId).notificationSettings.update(treeOf(changed)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'notifications', 'settings') })
      onSaved()
      toast('Saved')
    },
  })
  return { save, ready: Object.keys(changed).length > 0 }
}
