/** A provider that an app has at most once. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { toast } from '../../shared/toasts.tsx'
import type { AppApi, FormProps } from './provider-forms.tsx'

export interface SingleKind {
  id: string
  /** What operators type to confirm that they want to delete it. */
  name: string
  title: string
  about: string
  get: (api: AppApi) => Promise<{ isEnabled: boolean }>
  remove: (api: AppApi) => Promise<unknown>
  facts: (provider: never) => ReactNode
  form: (props: FormProps<never>) => ReactNode
  test: ReactNode
}

/** Keeps the type of one kind's provider together. */
export const single = <P extends { isEnabled: boolean }>(
  kind: Omit<SingleKind, 'get' | 'facts' | 'form'> & {
    get: (api: AppApi) => Promise<P>
    facts: (provider: P) => ReactNode
    form: (props: FormProps<P>) => ReactNode
  },
): SingleKind => kind as unknown as SingleKind

export function SingleProvider({ kind }: { kind: SingleKind }) {
  const appId = useAppId()
  const api = manage.app(appId)
  const queries = useQueryClient()
  const key = appKey(appId, 'notifications', 'providers')
  const stored = useQuery({
    queryKey: [...key, kind.id],
    queryFn: () =>
      kind.get(api).catch((error) => {
        if (error.code === 'ERR_PROVIDER_NOT_FOUND') return null
        throw error
      }),
  })
  const provider = stored.data
  return (
    <Panel title={kind.title} about={kind.about}>
      {stored.isPending && <Skeleton lines={1} />}
      <Problem error={stored.error} retry={stored.refetch} />
      {provider && (
        <ul className="provider-list">
          <li>
            <span>
              {kind.facts(provider as never)}
              {!provider.isEnabled && <Status tone="warn">Off</Status>}
            </span>
            <span className="provider-actions">
              {kind.test}
              <Dialog title={`Edit ${kind.name}`} trigger={<Button>Edit</Button>}>
                {(close) => <kind.form provider={provider as never} onDone={close} />}
              </Dialog>
              <ConfirmByName
                what="Delete provider"
                name={kind.name}
                about="Nothing is sent through it any more."
                trigger={<Button look="danger">Delete</Button>}
                act={async () => {
                  await kind.remove(api)
                  await queries.invalidateQueries({ queryKey: key })
                  toast('Deleted')
                }}
              />
            </span>
          </li>
        </ul>
      )}
      {provider === null && (
        <Dialog title={`Add ${kind.name}`} trigger={<Button icon="plus">Add provider</Button>}>
          {(close) => <kind.form onDone={close} />}
        </Dialog>
      )}
    </Panel>
  )
}
