import type { ModelProvider } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { toast } from '../../shared/toasts.tsx'
import './models.css'

const KINDS: Record<ModelProvider['kind'], string> = {
  openai: 'Like OpenAI',
  anthropic: 'Anthropic',
}

/** The providers of the app, for agents and for checks of messages. */
export function useProviders() {
  const appId = useAppId()
  return useQuery({
    queryKey: appKey(appId, 'models'),
    queryFn: () => manage.app(appId).modelProviders.list({ limit: 100 }),
  })
}

export function Providers() {
  const providers = useProviders()
  const rows = providers.data?.data ?? []
  return (
    <Panel
      title="Providers of models"
      about="Services whose models agents and message checks use: in the cloud, or your own."
    >
      {providers.isPending && <Skeleton lines={2} />}
      <Problem error={providers.error} retry={providers.refetch} />
      {rows.length > 0 && (
        <ul className="providers">
          {rows.map((provider) => (
            <Provider key={provider.id} provider={provider} />
          ))}
        </ul>
      )}
      <Dialog title="Add provider" trigger={<Button icon="plus">Add provider</Button>}>
        {(close) => <ProviderForm onDone={close} />}
      </Dialog>
    </Panel>
  )
}

function Provider({ provider }: { provider: ModelProvider }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { id, name, url, hasKey, kind } = provider
  return (
    <li>
      <div>
        <strong dir="auto">{name}</strong> <code>{id}</code>{' '}
        {!hasKey && <Status tone="warn">No key</Status>}
        <p className="soft">
          {KINDS[kind]} · <code>{url}</code> · {pricesOf(provider)}
        </p>
      </div>
      <span className="row">
        <Dialog title={`Edit ${name}`} trigger={<Button>Edit</Button>}>
          {(close) => <ProviderForm provider={provider} onDone={close} />}
        </Dialog>
        <ConfirmByName
          what="Delete provider"
          name={name}
          about="A provider that agents or checks use can't be deleted."
          trigger={<Button look="danger">Delete</Button>}
          act={async () => {
            await manage.app(appId).modelProviders.delete(id)
            await queries.invalidateQueries({ queryKey: appKey(appId, 'models') })
            toast(`Deleted ${name}`)
          }}
        />
      </span>
    </li>
  )
}

function pricesOf({ inputPrice, outputPrice }: ModelProvider): string {
  if (inputPrice === undefined && outputPrice === undefined) return 'no prices'
  return `${inputPrice ?? '?'} read and ${outputPrice ?? '?'} written, per million tokens`
}

/** Empty: no price. */
const priceOf = (text: string) => (text === '' ? null : Number(text))

function ProviderForm({ provider, onDone }: { provider?: ModelProvider; onDone: () => void }) {
  const appId = useAppId()
  const { modelProviders } = manage.app(appId)
  const queries = useQueryClient()
  const [id, setId] = useState('')
  const [kind, setKind] = useState<ModelProvider['kind']>(provider?.kind ?? 'openai')
  const [name, setName] = useState(provider?.name ?? '')
  const [url, setUrl] = useState(provider?.url ?? '')
  const [key, setKey] = useState('')
  const [input, setInput] = useState(provider?.inputPrice?.toString() ?? '')
  const [output, setOutput] = useState(provider?.outputPrice?.toString() ?? '')
  const [embedding, setEmbedding] = useState(provider?.embeddingModel ?? '')
  const [fallback, setFallback] = useState(provider?.fallbackId ?? '')
  const [fallbackModel, setFallbackModel] = useState(provider?.fallbackModel ?? '')
  const others = (useProviders().data?.data ?? []).filter((other) => other.id !== provider?.id)
  const content = { name, url, ...(key && { key }) }
  const save = useMutation({
    mutationFn: () => {
      const [inputPrice, outputPrice] = [priceOf(input), priceOf(output)]
      if (provider) {
        return modelProviders.update(provider.id, {
          ...{ ...content, inputPrice, outputPrice },
          ...{ fallbackId: fallback || null, fallbackModel: fallbackModel || null },
          embeddingModel: embedding || null,
        })
      }
      return modelProviders.create({
        ...{ id, kind, ...content },
        ...(inputPrice !== null && { inputPrice }),
        ...(outputPrice !== null && { outputPrice }),
        ...(fallback && { fallbackId: fallback }),
        ...(fallbackModel && { fallbackModel }),
        ...(embedding && { embeddingModel: embedding }),
      })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'models') })
      onDone()
      toast(provider ? `Saved ${name}` : `Added ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={provider ? 'Save' : 'Add provider'}>
      {!provider && (
        <>
          <Field
            label="Provider ID"
            hint="A unique ID that you choose. You can't change it later."
            mono
            value={id}
            onChange={setId}
            autoFocus
          />
          <Choice
            label="Interface"
            hint="Most services and model servers have one like OpenAI's. Checks can't use Anthropic."
            value={kind}
            options={KINDS}
            onChange={setKind}
          />
        </>
      )}
      <Field label="Name" value={name} onChange={setName} maxLength={100} />
      <Field
        label="URL"
        hint={
          kind === 'anthropic'
            ? 'What comes before the names of its operations: https://api.anthropic.com/v1'
            : 'What comes before the names of its operations: https://api.openai.com/v1'
        }
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
      {kind === 'openai' && (
        <Field
          label="Embedding model"
          hint="Ranks what agents find in their knowledge by its meaning. Empty: by words alone."
          mono
          required={false}
          value={embedding}
          onChange={setEmbedding}
          maxLength={100}
        />
      )}
      {others.length > 0 && (
        <div className="pair">
          <Choice
            label="If it can't answer"
            hint="Agents ask another provider at once."
            value={fallback}
            options={{
              '': 'Nobody',
              ...Object.fromEntries(others.map((one) => [one.id, one.name])),
            }}
            onChange={setFallback}
          />
          {fallback && (
            <Field
              label="Model there"
              hint="Empty: the same one."
              mono
              required={false}
              value={fallbackModel}
              onChange={setFallbackModel}
              maxLength={100}
            />
          )}
        </div>
      )}
      <fieldset className="fields">
        <legend>Prices of a million tokens, for budgets</legend>
        <Field
          label="Read"
          type="number"
          step="any"
          required={false}
          value={input}
          onChange={setInput}
        />
        <Field
          label="Written"
          type="number"
          step="any"
          required={false}
          value={output}
          onChange={setOutput}
        />
      </fieldset>
    </Form>
  )
}
