import type { Role } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Form, TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

/** Creates a role, or edits the given one. */
export function RoleForm({ role, onDone }: { role?: Role; onDone: () => void }) {
  const appId = useAppId()
  const { roles } = manage.app(appId)
  const queries = useQueryClient()
  const [id, setId] = useState('')
  const [name, setName] = useState(role?.name ?? '')
  const [description, setDescription] = useState(role?.description ?? '')
  const save = useMutation({
    mutationFn: () =>
      role
        ? roles.update(role.role, { name, description })
        : roles.create({ role: id, name, ...(description && { description }) }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'roles') })
      onDone()
      toast(role ? `Saved ${name}` : `Created ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={role ? 'Save' : 'Create role'}>
      {!role && (
        <Field
          label="Role ID"
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
