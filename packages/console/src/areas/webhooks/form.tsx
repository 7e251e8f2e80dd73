import type { Webhook } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Copyable } from '../../shared/copyable.tsx'
import { ShownOnce } from '../../shared/dialog.tsx'
import { Check, Field, Form, type FormMutation } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'

/** The fields of the form. */
interface Draft {
  name: string
  webhookURL: string
  triggers: string[]
  useBasicAuth: boolean
  username: string
  password: string
  retryOnFailure: boolean
}

const EMPTY: Draft = {
  name: '',
  webhookURL: '',
  triggers: ['message_sent'],
  useBasicAuth: false,
  username: '',
  password: '',
  retryOnFailure: true,
}

const draftOf = (webhook: Webhook): Draft => ({
  name: webhook.name,
  webhookURL: webhook.webhookURL,
  triggers: webhook.triggers,
  useBasicAuth: webhook.useBasicAuth,
  username: webhook.username ?? '',
  password: '',
  retryOnFailure: webhook.retryOnFailure,
})

/** The request body. Empty fields are not sent. */
const changesOf = ({ triggers: _, username, password, ...draft }: Draft) => ({
  ...draft,
  ...(username && { username }),
  ...(password && { password }),
})

/** An id of letters and digits, derived from the name. */
const idOf = (name: string) => {
  const letters = name.replace(/[^A-Za-z0-9]/g, '').slice(0, 30)
  // Pages without TLS have no crypto.randomUUID.
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  return `${letters || 'webhook'}${random.toString(36)}`
}

export function CreateWebhook() {
  const appId = useAppId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { webhooks } = manage.app(appId)
  const [draft, setDraft] = useState(EMPTY)
  const onSettled = () => queries.invalidateQueries({ queryKey: appKey(appId, 'webhooks') })
  const addTriggers = useMutation({
    mutationFn: (id: string) => webhooks.addTriggers(id, { triggerIds: draft.triggers }),
    onSettled,
  })
  const create = useMutation({
    mutationFn: () => webhooks.create({ id: idOf(draft.name), ...changesOf(draft) }),
    onSuccess: async ({ id }) => {
      if (draft.triggers.length === 0) return
      // The webhook exists, and only this dialog can show its secret. So show the error next to the secret.
      await addTriggers.mutateAsync(id).catch(() => undefined)
    },
    onSettled,
  })
  if (create.data) {
    const { id, secret } = create.data
    const open = () =>
      void navigate({
        to: '/apps/$appId/webhooks/$webhookId',
        params: { appId, webhookId: id },
      })
    return (
      <ShownOnce onDone={open}>
        <p>
          Your server uses this secret to verify calls. Copy it now, because you won't be able to
          see it again. You can create a new secret at any time.
        </p>
        <Copyable label="Secret" value={secret} />
        {addTriggers.error && <p>The webhook was created, but its triggers couldn't be saved:</p>}
        <Problem error={addTriggers.error} retry={() => addTriggers.mutate(id)} />
      </ShownOnce>
    )
  }
  return <WebhookForm draft={draft} onChange={setDraft} mutation={create} submit="Create webhook" />
}

export function EditWebhook({ webhook, onDone }: { webhook: Webhook; onDone: () => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const [draft, setDraft] = useState(() => draftOf(webhook))
  const save = useMutation({
    mutationFn: async () => {
      const { webhooks } = manage.app(appId)
      const { id, triggers: before } = webhook
      await webhooks.update(id, changesOf(draft))
      const added = draft.triggers.filter((name) => !before.includes(name))
      const removed = before.filter((name) => !draft.triggers.includes(name))
      if (added.length > 0) await webhooks.addTriggers(id, { triggerIds: added })
      if (removed.length > 0) await webhooks.deleteTriggers(id, { triggerIds: removed })
    },
    onSuccess: () => {
      onDone()
      toast(`Saved ${draft.name}`)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: appKey(appId, 'webhooks') }),
  })
  return <WebhookForm draft={draft} onChange={setDraft} mutation={save} submit="Save" />
}

function WebhookForm(props: {
  draft: Draft
  onChange: (draft: Draft) => void
  mutation: FormMutation
  submit: string
}) {
  const { draft, onChange, mutation, submit } = props
  const set = <K extends keyof Draft>(name: K) => {
    return (value: Draft[K]) => onChange({ ...draft, [name]: value })
  }
  return (
    <Form mutation={mutation} submit={submit}>
      <Field label="Name" value={draft.name} onChange={set('name')} maxLength={50} autoFocus />
      <Field
        label="URL"
        hint="An https:// URL on a public host. Redirects aren't followed."
        type="url"
        placeholder="https://example.org/hooks/chat"
        value={draft.webhookURL}
        onChange={set('webhookURL')}
        maxLength={255}
      />
      <Triggers chosen={draft.triggers} onChange={set('triggers')} />
      <Check
        label="Retry failed deliveries"
        hint="For three days, at increasing intervals."
        checked={draft.retryOnFailure}
        onChange={set('retryOnFailure')}
      />
      <Check
        label="Use basic authentication"
        hint="Loquat sends a username and password with each call."
        checked={draft.useBasicAuth}
        onChange={set('useBasicAuth')}
      />
      {draft.useBasicAuth && (
        <div className="pair">
          <Field
            label="Username"
            autoComplete="off"
            value={draft.username}
            onChange={set('username')}
          />
          <Field
            label="Password"
            hint="Letters and digits. Leave empty to keep the current password."
            type="password"
            autoComplete="new-password"
            required={false}
            value={draft.password}
            onChange={set('password')}
          />
        </div>
      )}
    </Form>
  )
}

function Triggers(props: { chosen: string[]; onChange: (chosen: string[]) => void }) {
  const { chosen, onChange } = props
  const appId = useAppId()
  const known = useQuery({
    queryKey: ['triggers'],
    queryFn: () => manage.app(appId).webhooks.listKnownTriggers({ perPage: 1000 }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <fieldset className="triggers">
      <legend>Triggers</legend>
      <Problem error={known.error} retry={known.refetch} />
      <div>
        {known.data?.data.map(({ id, description }) => (
          <Check
            key={id}
            label={id}
            hint={description}
            checked={chosen.includes(id)}
            onChange={(on) => onChange(on ? [...chosen, id] : chosen.filter((name) => name !== id))}
          />
        ))}
      </div>
    </fieldset>
  )
}
