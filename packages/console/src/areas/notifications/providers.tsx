/** The services that carry notifications. Of those for push, an app can have several. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { toast } from '../../shared/toasts.tsx'
import { EMAIL, OWN_PUSH_SERVER, SMS } from './mail-providers.tsx'
import { ApnsForm, FcmForm, WebPushForm } from './provider-forms.tsx'
import { SendTest } from './send-test.tsx'
import { SingleProvider } from './single-provider.tsx'

type Api = ReturnType<typeof manage.app>['pushProviders']

interface Shown {
  providerId: string
  isDefault: boolean
}

/** An app can have several providers of this kind. */
interface Kind<P extends Shown> {
  id: 'web_push' | 'fcm' | 'apns'
  title: string
  about: string
  list: (api: Api) => Promise<{ pushProviders: P[] }>
  remove: (api: Api, id: string) => Promise<unknown>
  setDefault: (api: Api, id: string) => Promise<unknown>
  facts: (provider: P) => ReactNode
  form: (props: { provider?: P; onDone: () => void }) => ReactNode
}

const kind = <P extends Shown>(of: Kind<P>) => of

const WEB_PUSH = kind({
  id: 'web_push',
  title: 'Browsers',
  about:
    'Web Push, with a key that is made for you. Browsers subscribe with the key of the default.',
  list: (api) => api.listWeb(),
  remove: (api, id) => api.deleteWeb(id),
  setDefault: (api, id) => api.setDefaultWeb(id),
  facts: ({ publicKey, subject }) => (
    <>
      <small>{subject}</small>
      <small>
        Public key <code>{publicKey}</code>
      </small>
    </>
  ),
  form: WebPushForm,
})
const FCM = kind({
  id: 'fcm',
  title: 'Android, and apps that use Firebase',
  about: 'Firebase Cloud Messaging, with a service account of your project.',
  list: (api) => api.listFcm(),
  remove: (api, id) => api.deleteFcm(id),
  setDefault: (api, id) => api.setDefaultFcm(id),
  facts: ({ serviceAccountCreds: { project_id, client_email } }) => (
    <small>
      Project <code>{project_id}</code>, {client_email}
    </small>
  ),
  form: FcmForm,
})
const APNS = kind({
  id: 'apns',
  title: 'Apple devices',
  about: 'Apple Push Notification service, with a key of your team.',
  list: (api) => api.listApns(),
  remove: (api, id) => api.deleteApns(id),
  setDefault: (api, id) => api.setDefaultApns(id),
  facts: ({ bundleId, teamId, productionMode }) => (
    <small>
      <code>{bundleId}</code>, team <code>{teamId}</code>,{' '}
      {productionMode ? 'production' : 'sandbox'}
    </small>
  ),
  form: ApnsForm,
})

export const NotificationProviders = () => (
  <div className="stack">
    <Providers kind={WEB_PUSH} />
    <Providers kind={FCM} />
    <Providers kind={APNS} />
    <SingleProvider kind={OWN_PUSH_SERVER} />
    {EMAIL.map((kind) => (
      <SingleProvider key={kind.id} kind={kind} />
    ))}
    {SMS.map((kind) => (
      <SingleProvider key={kind.id} kind={kind} />
    ))}
  </div>
)

const keyOf = (appId: string) => appKey(appId, 'notifications', 'providers')

function Providers<P extends Shown>({ kind: of }: { kind: Kind<P> }) {
  const appId = useAppId()
  const list = useQuery({
    queryKey: [...keyOf(appId), of.id],
    queryFn: () => of.list(manage.app(appId).pushProviders),
  })
  return (
    <Panel title={of.title} about={of.about}>
      {list.isPending && <Skeleton lines={2} />}
      <Problem error={list.error} retry={list.refetch} />
      {list.data && list.data.pushProviders.length > 0 && (
        <ul className="provider-list">
          {list.data.pushProviders.map((provider) => (
            <Provider key={provider.providerId} kind={of} provider={provider} />
          ))}
        </ul>
      )}
      <Dialog title={`Add: ${of.title}`} trigger={<Button icon="plus">Add provider</Button>}>
        {(close) => <of.form onDone={close} />}
      </Dialog>
    </Panel>
  )
}

function Provider<P extends Shown>({ kind: of, provider }: { kind: Kind<P>; provider: P }) {
  const appId = useAppId()
  const api = manage.app(appId).pushProviders
  const queries = useQueryClient()
  const { providerId, isDefault } = provider
  const changed = () => queries.invalidateQueries({ queryKey: keyOf(appId) })
  const makeDefault = useMutation({
    mutationFn: () => of.setDefault(api, providerId),
    onSuccess: async () => {
      await changed()
      toast(`${providerId} is the default`)
    },
  })
  return (
    <li>
      <span>
        <span>
          <strong>{providerId}</strong> {isDefault && <Status tone="info">Default</Status>}
        </span>
        {of.facts(provider)}
      </span>
      <span className="provider-actions">
        <SendTest kind={of.id} providerId={providerId} />
        {!isDefault && (
          <Button isDisabled={makeDefault.isPending} onPress={() => makeDefault.mutate()}>
            Make default
          </Button>
        )}
        <Dialog title={`Edit ${providerId}`} trigger={<Button>Edit</Button>}>
          {(close) => <of.form provider={provider} onDone={close} />}
        </Dialog>
        <ConfirmByName
          what="Delete provider"
          name={providerId}
          about="Devices that were registered with it get no push any more. The default can be deleted only as the last one."
          trigger={<Button look="danger">Delete</Button>}
          act={async () => {
            await of.remove(api, providerId)
            await changed()
            toast(`Deleted ${providerId}`)
          }}
        />
      </span>
      <Problem error={makeDefault.error} />
    </li>
  )
}
