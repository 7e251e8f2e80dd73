import type { ModelProvider } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'

export function Providers() {
  const appId = useAppId()
  const providers = useQuery({
    queryKey: appKey(appId, 'moderation', 'providers'),
    queryFn: () => manage.app(appId).modelProviders.list({ limit: 100 }),
  })
  return (
    <Panel
      title="Providers of models"
      about="Services with an interface like that of OpenAI, in the cloud or your own."
    >
      {providers.isPending && <Skeleton lines={2} />}
      <Problem error={providers.error} retry={providers.refetch} />
      <ul className="stack plain-list">
        {providers.data?.data.map((provider) => (
          <Provider key={provider.id} provider={provider} />
        ))}
      </ul>
      <Dialog title="Add provider" trigger={<Button icon="plus">Add provider</Button>}>
        {(close) => <ProviderForm onDone={close} />}
      </Dialog>
    </Panel>
  )
}

function Provider({ provider }: { provider: ModelProvider }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { id, name, url, hasKey } = provider
  return (
    <li className="row">
      <span>
        <strong dir="auto">{name}</strong> <code>{url}</code>
        {!hasKey && ' without a key'}
      </span>
      <span className="row-end">
        <Dialog title={`Edit ${name}`} trigger={<Button>Edit</Button>}>
          {(close) => <ProviderForm provider={provider} onDone={close} />}
        </Dialog>
        <ConfirmByName
          what="Delete provider"
          name={name}
          about="A provider that checks use can't be deleted."
          trigger={<Button look="danger">Delete</Button>}
          act={async () => {
            await manage.app(appId).modelProviders.delete(id)
            await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
            toast(`Deleted ${name}`)
          }}
        />
      </span>
    </li>
  )
}

function ProviderForm({ provider, onDone }: { provider?: ModelProvider; onDone: () => void }) {
  const appId = useAppId()
  const { modelProviders } = manage.app(appId)
  const queries = useQueryClient()
  const [id, setId] = useState('')
  const [name, setName] = useState(provider?.name ?? '')
  const [url, setUrl] = useState(provider?.url ?? '')
  const [key, setKey] = useState('')
  const content = { name, url, ...(key && { key }) }
  const save = useMutation({
    mutationFn: () =>
      provider
        ? modelProviders.update(provider.id, content)
        : modelProviders.create({ id, ...content }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
      onDone()
      toast(provider ? `Saved ${name}` : `Added ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={provider ? 'Save' : 'Add provider'}>
      {!provider && (
        <Field
          label="Provider ID"
          hint="A unique ID that you choose. You can't change it later."
          mono
          value={id}
          onChange={setId}
          autoFocus
        />
      )}
      <Field label="Name" value={name} onChange={setName} maxLength={100} />
      <Field
        label="URL"
        hint="What comes before the names of its operations: https://api.openai.com/v1"
        mono
        value={url}
        onChange={setUrl}
      />
      <Field
        label="API key"
        hint={provider?.hasKey ? 'Leave it empty to keep the key, unless the URL changes.' : ''}
        type="password"
        autoComplete="new-password"
        required={false}
        value={key}
        onChange={setKey}
      />
    </Form>
  )
}
