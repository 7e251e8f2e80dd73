import type { FlagReason } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Field, Form, TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { toast } from '../../shared/toasts.tsx'

const ALL = { limit: 100 }

export function Reasons() {
  const appId = useAppId()
  const reasons = useQuery({
    queryKey: appKey(appId, 'moderation', 'reasons'),
    queryFn: () => manage.app(appId).flagReasons.list(ALL),
  })
  return (
    <div className="stack">
      <div className="row moderation-head">
        <Dialog
          title="Create reason"
          trigger={
            <Button look="main" icon="plus">
              Create reason
            </Button>
          }
        >
          {(close) => <ReasonForm onDone={close} />}
        </Dialog>
      </div>
      {reasons.isPending && <Skeleton lines={3} />}
      <Problem error={reasons.error} retry={reasons.refetch} />
      <ul className="stack">
        {reasons.data?.data.map((reason) => (
          <ReasonCard key={reason.id} reason={reason} />
        ))}
      </ul>
    </div>
  )
}

function ReasonCard({ reason }: { reason: FlagReason }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { id, name, description } = reason
  return (
    <li className="panel rule-card">
      <div className="row">
        <strong dir="auto">{name}</strong>
        {reason.default && <Status>Built in</Status>}
        {!reason.default && (
          <span className="row-end">
            <Dialog title={`Edit ${name}`} trigger={<Button>Edit</Button>}>
              {(close) => <ReasonForm reason={reason} onDone={close} />}
            </Dialog>
            <ConfirmByName
              what="Delete reason"
              name={name}
              about="Flags with this reason stay."
              trigger={<Button look="danger">Delete</Button>}
              act={async () => {
                await manage.app(appId).flagReasons.delete(id)
                await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
                toast(`Deleted ${name}`)
              }}
            />
          </span>
        )}
      </div>
      {description && (
        <p className="soft" dir="auto">
          {description}
        </p>
      )}
    </li>
  )
}

function ReasonForm({ reason, onDone }: { reason?: FlagReason; onDone: () => void }) {
  const appId = useAppId()
  const { flagReasons } = manage.app(appId)
  const queries = useQueryClient()
  const [id, setId] = useState('')
  const [name, setName] = useState(reason?.name ?? '')
  const [description, setDescription] = useState(reason?.description ?? '')
  const save = useMutation({
    mutationFn: () =>
      reason
        ? flagReasons.update(reason.id, { name, description })
        : flagReasons.create({ id, name, ...(description && { description }) }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
      onDone()
      toast(reason ? `Saved ${name}` : `Created ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={reason ? 'Save' : 'Create reason'}>
      {!reason && (
        <Field
          label="Reason ID"
          hint="A unique ID that you choose. You can't change it later."
          mono
          value={id}
          onChange={setId}
          autoFocus
        />
      )}
      <Field label="Name" value={name} onChange={setName} maxLength={100} />
      <TextArea label="Description" rows={2} value={description} onChange={setDescription} />
    </Form>
  )
}
