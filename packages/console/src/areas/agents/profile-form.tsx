import type { Agent } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { metadataOf, textOfMetadata } from '../../shared/metadata.ts'
import { PictureField } from '../../shared/picture-field.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged } from './data.ts'

/** What users see of the agent. */
export function ProfileForm({ agent, onDone }: { agent: Agent; onDone: () => void }) {
  const appId = useAppId()
  const changed = useAgentsChanged()
  const [name, setName] = useState(agent.name)
  const [description, setDescription] = useState(agent.description ?? '')
  const [icon, setIcon] = useState(agent.icon ?? '')
  const [metadata, setMetadata] = useState(textOfMetadata(agent.metaData))
  const save = useMutation({
    mutationFn: () =>
      manage.app(appId).agents.update(agent.uid, {
        ...{ name, description, metaData: metadataOf(metadata) ?? {} },
        ...(icon && { icon }),
      }),
    onSuccess: async () => {
      await changed()
      onDone()
      toast(`Saved ${name}`)
    },
  })
  return (
    <Form mutation={save} submit="Save">
      <Field label="Name" value={name} onChange={setName} maxLength={100} autoFocus />
      <TextArea
        label="Description"
        hint="What the agent is for. Users see it in its profile."
        value={description}
        onChange={setDescription}
      />
      <PictureField label="Picture" value={icon} onChange={setIcon} />
      <TextArea
        label="Metadata"
        hint="A JSON object. Apps show greetingMessage and suggestedMessages before the first question."
        mono
        value={metadata}
        onChange={setMetadata}
      />
    </Form>
  )
}
