import type { Group } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { listOf } from '../../shared/lists.ts'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { metadataOf, textOfMetadata } from '../../shared/metadata.ts'
import { PictureField } from '../../shared/picture-field.tsx'
import { toast } from '../../shared/toasts.tsx'
import { GROUP_TYPES } from './filters.ts'
import { refusedOf } from './refused.ts'

const APP = 'app_system'

/** Creates a group, or edits the given one. */
export function GroupForm({ group, onDone }: { group?: Group; onDone: () => void }) {
  const appId = useAppId()
  const { groups } = manage.app(appId)
  const queries = useQueryClient()
  const [guid, setGuid] = useState('')
  const [name, setName] = useState(group?.name ?? '')
  const [type, setType] = useState<Group['type']>(group?.type ?? 'public')
  const [password, setPassword] = useState('')
  const [icon, setIcon] = useState(group?.icon ?? '')
  const [description, setDescription] = useState(group?.description ?? '')
  const [owner, setOwner] = useState(group?.owner === APP ? '' : (group?.owner ?? ''))
  const [members, setMembers] = useState('')
  const [tags, setTags] = useState(group?.tags?.join(', ') ?? '')
  const [metadata, setMetadata] = useState(textOfMetadata(group?.metadata))
  const save = useMutation({
    mutationFn: async () => {
      const shared = {
        name,
        type,
        tags: listOf(tags),
        password: (type === 'password' && password) || undefined,
      }
      if (group) {
        await groups.update(group.guid, {
          ...shared,
          owner: (owner || APP) === group.owner ? undefined : owner || APP,
          icon: icon || null,
          description: description || null,
          metadata: metadataOf(metadata) ?? null,
        })
        return []
      }
      const participants = listOf(members)
      const made = await groups.create({
        ...shared,
        guid,
        owner: owner || undefined,
        icon: icon || undefined,
        description: description || undefined,
        metadata: metadataOf(metadata),
        members: participants.length > 0 ? { participants } : undefined,
      })
      return refusedOf(made.members ?? {})
    },
    onSuccess: async (refused) => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'groups') })
      if (refused.length === 0) onDone()
      toast(group ? `Saved ${name}` : `Created ${name}`)
    },
  })
  if (save.data && save.data.length > 0) return <Refused reasons={save.data} onDone={onDone} />
  return (
    <Form mutation={save} submit={group ? 'Save' : 'Create group'}>
      {!group && (
        <Field
          label="GUID"
          hint="A unique ID that you choose. You can't change it later."
          mono
          value={guid}
          onChange={setGuid}
          autoFocus
        />
      )}
      <Field label="Name" value={name} onChange={setName} />
      <Choice
        label="Type"
        hint="Anyone can join a public group, and anyone with the password can join a password group. Users join a private group only when they're added."
        value={type}
        options={GROUP_TYPES}
        onChange={setType}
      />
      {type === 'password' && (
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          required={group?.type !== 'password'}
          value={password}
          onChange={setPassword}
        />
      )}
      <Field
        label="Owner"
        hint="A UID. If empty, the app owns the group."
        mono
        required={false}
        value={owner}
        onChange={setOwner}
      />
      {!group && (
        <Field
          label="Members"
          hint="Up to 25 UIDs, separated by commas."
          mono
          required={false}
          value={members}
          onChange={setMembers}
        />
      )}
      <TextArea label="Description" rows={2} value={description} onChange={setDescription} />
      <PictureField label="Icon" value={icon} onChange={setIcon} />
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

/** Lists the users who could not be added to a new group. */
const Refused = ({ reasons, onDone }: { reasons: string[]; onDone: () => void }) => (
  <div className="stack">
    <p>The group was created, but these users couldn't be added:</p>
    <ul>
      {reasons.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
    <div className="form-end">
      <Button look="main" onPress={onDone}>
        Done
      </Button>
    </div>
  </div>
)
