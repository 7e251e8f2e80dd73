import type { User } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { listOf } from '../../shared/lists.ts'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { metadataOf, textOfMetadata } from '../../shared/metadata.ts'
import { PictureField } from '../../shared/picture-field.tsx'
import { toast } from '../../shared/toasts.tsx'

/** Creates a user, or edits the given one. */
export function UserForm({ user, onDone }: { user?: User; onDone: () => void }) {
  const appId = useAppId()
  const api = manage.app(appId)
  const queries = useQueryClient()
  const [uid, setUid] = useState(user?.uid ?? '')
  const [name, setName] = useState(user?.name ?? '')
  const [avatar, setAvatar] = useState(user?.avatar ?? '')
  const [link, setLink] = useState(user?.link ?? '')
  const [role, setRole] = useState(user?.role ?? 'default')
  const [statusMessage, setStatusMessage] = useState(user?.statusMessage ?? '')
  const [tags, setTags] = useState(user?.tags?.join(', ') ?? '')
  const [metadata, setMetadata] = useState(textOfMetadata(user?.metadata))
  const roles = useQuery({
    queryKey: appKey(appId, 'roles'),
    queryFn: () => api.roles.list({ perPage: 100 }),
  })
  const known = roles.data?.data ?? []
  const options = Object.fromEntries([
    [role, role],
    ...known.map((one) => [one.role, one.name] as const),
  ])
  const save = useMutation({
    mutationFn: () => {
      const shared = { name, role, tags: listOf(tags) }
      if (user) {
        return api.users.update(user.uid, {
          ...shared,
          // Emptied fields are cleared.
          avatar: avatar || null,
          link: link || null,
          statusMessage: statusMessage || null,
          metadata: metadataOf(metadata) ?? null,
        })
      }
      return api.users.create({
        ...shared,
        uid,
        avatar: avatar || undefined,
        link: link || undefined,
        statusMessage: statusMessage || undefined,
        metadata: metadataOf(metadata),
      })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'users') })
      onDone()
      toast(user ? `Saved ${name}` : `Created ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={user ? 'Save' : 'Create user'}>
      {!user && (
        <Field
          label="UID"
          hint="A unique ID that you choose. You can't change it later."
          mono
          value={uid}
          onChange={setUid}
          autoFocus
        />
      )}
      <Field label="Name" value={name} onChange={setName} />
      <Choice label="Role" value={role} options={options} onChange={setRole} />
      <PictureField label="Avatar" value={avatar} onChange={setAvatar} />
      <Field
        label="Link"
        hint="URL of a profile page."
        required={false}
        value={link}
        onChange={setLink}
      />
      <Field
        label="Status message"
        required={false}
        value={statusMessage}
        onChange={setStatusMessage}
      />
      <Field
        label="Tags"
        hint="Separate tags with commas."
        required={false}
        value={tags}
        onChange={setTags}
      />
      <TextArea
        label="Metadata"
        hint="A JSON object."
        mono
        value={metadata}
        onChange={setMetadata}
      />
    </Form>
  )
}
