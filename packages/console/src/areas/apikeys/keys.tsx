import type { ApiKey } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, IconButton } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Copyable } from '../../shared/copyable.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'

const SCOPES = {
  authOnly: 'authOnly: can only create auth tokens for users',
  fullAccess: 'fullAccess: can do everything',
} as const
type Scope = keyof typeof SCOPES

export function Keys() {
  const appId = useAppId()
  const keys = useQuery({
    queryKey: appKey(appId, 'keys', 'all'),
    queryFn: () => manage.app(appId).apiKeys.list({ perPage: 100 }),
  })
  const rows = keys.data?.data ?? []
  return (
    <Page
      title="API keys"
      description="Your server uses an API key to call this app. Never put a key in a website or mobile app."
      actions={
        <Dialog
          title="Create API key"
          trigger={
            <Button look="main" icon="plus">
              Create key
            </Button>
          }
        >
          {(close) => <KeyForm onDone={close} />}
        </Dialog>
      }
    >
      {keys.isPending && <Skeleton lines={3} />}
      <Problem error={keys.error} retry={keys.refetch} />
      {keys.isSuccess && rows.length === 0 && (
        <Empty title="No API keys">Create a key so that your server can call this app.</Empty>
      )}
      <ul className="stack">
        {rows.map((key) => (
          <Key key={key.apiKey} record={key} />
        ))}
      </ul>
    </Page>
  )
}

function Key({ record }: { record: ApiKey }) {
  const appId = useAppId()
  const queries = useQueryClient()
  return (
    <li className="panel">
      <div className="row">
        <h2 dir="auto">{record.name}</h2>
        <Status tone={record.scope === 'fullAccess' ? 'warn' : 'plain'}>{record.scope}</Status>
        <span style={{ flex: 1 }} />
        <Dialog
          title="Edit API key"
          trigger={<IconButton icon="edit" label={`Edit ${record.name}`} />}
        >
          {(close) => <KeyForm record={record} onDone={close} />}
        </Dialog>
        <ConfirmByName
          what="Delete API key"
          name={record.name}
          about="Requests with this key fail as soon as you delete it."
          trigger={<IconButton icon="trash" label={`Delete ${record.name}`} look="quiet" />}
          act={async () => {
            await manage.app(appId).apiKeys.delete(record.apiKey)
            await queries.invalidateQueries({ queryKey: appKey(appId, 'keys') })
            toast(`Deleted key ${record.name}`)
          }}
        />
      </div>
      <Copyable label="Key" value={record.apiKey} secret />
      <p className="soft">
        Created <Time at={record.createdAt} />
      </p>
    </li>
  )
}

/** Creates a key, or edits the given one. */
function KeyForm({ record, onDone }: { record?: ApiKey; onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [name, setName] = useState(record?.name ?? '')
  const [scope, setScope] = useState<Scope>(record?.scope ?? 'authOnly')
  const save = useMutation({
    mutationFn: () => {
      const { apiKeys } = manage.app(appId)
      return record
        ? apiKeys.update(record.apiKey, { name, scope })
        : apiKeys.create({ name, scope })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'keys') })
      onDone()
      toast(record ? `Saved key ${name}` : `Created key ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={record ? 'Save' : 'Create key'}>
      <Field
        label="Name"
        hint="What you'll use this key for."
        value={name}
        onChange={setName}
        maxLength={100}
        autoFocus
      />
      <Choice label="Scope" value={scope} options={SCOPES} onChange={setScope} />
    </Form>
  )
}
