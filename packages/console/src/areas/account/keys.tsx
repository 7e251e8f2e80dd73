import type { management } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button, IconButton } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Copyable } from '../../shared/copyable.tsx'
import { Dialog, ShownOnce } from '../../shared/dialog.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { manage } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { usePassword } from './password.tsx'

const KEYS = ['operator-keys']

/** Key and secret pairs with which scripts manage apps on behalf of this account. */
export function Keys() {
  const keys = useQuery({ queryKey: KEYS, queryFn: () => manage.keys.list({ perPage: 100 }) })
  const rows = keys.data?.data ?? []
  return (
    <Panel
      title="Operator keys"
      about="Scripts can manage your apps with a key and secret. They have your permissions, but can't change your account."
    >
      {keys.isPending && <Skeleton lines={1} />}
      <Problem error={keys.error} retry={keys.refetch} />
      <ul>
        {rows.map((key) => (
          <Key key={key.key} record={key} />
        ))}
      </ul>
      <div className="form-end">
        <Dialog title="Create operator key" trigger={<Button icon="plus">Create key</Button>}>
          {(close) => <CreateKey onDone={close} />}
        </Dialog>
      </div>
    </Panel>
  )
}

function Key({ record }: { record: management.OperatorKey }) {
  const queries = useQueryClient()
  return (
    <li className="entry">
      <span>
        <span dir="auto">{record.name}</span>
        <small>
          <code>{record.key}</code> · created <Time at={record.createdAt} />
        </small>
      </span>
      <ConfirmByName
        what="Delete key"
        name={record.name}
        about="Scripts that use this key stop working immediately."
        trigger={<IconButton icon="trash" label={`Delete ${record.name}`} />}
        act={async () => {
          await manage.keys.delete(record.key)
          await queries.invalidateQueries({ queryKey: KEYS })
          toast(`Deleted key ${record.name}`)
        }}
      />
    </li>
  )
}

function CreateKey({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const { password, field } = usePassword({ autoFocus: false })
  const create = useMutation({
    mutationFn: () => manage.keys.create({ name, password }),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEYS }),
  })
  if (create.data) {
    return (
      <ShownOnce onDone={onDone}>
        <p>Copy the secret now. You won't be able to see it again.</p>
        <Copyable label="Key" value={create.data.key} />
        <Copyable label="Secret" value={create.data.secret} />
      </ShownOnce>
    )
  }
  return (
    <Form mutation={create} submit="Create key">
      <Field
        label="Name"
        hint="What you'll use this key for."
        value={name}
        onChange={setName}
        autoFocus
      />
      {field}
    </Form>
  )
}
