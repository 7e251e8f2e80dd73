/** How messages are checked by other services: the app's own check, models, and what happens if they fail. */
import type { CheckSettings } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Copyable } from '../../shared/copyable.tsx'
import { Check, Choice, Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'
import { Providers, useProviders } from '../models/providers.tsx'
import { CheckTester } from './check-tester.tsx'

import './moderation.css'

type Changes = Parameters<ReturnType<typeof manage.app>['moderationChecks']['updateSettings']>[0]

const OUTCOMES = { disapproved: 'Block the message', approved: 'Deliver the message' }
const USES = {
  classifier: ['Classifier', 'Scores for conditions about toxicity and images.'],
  embeddings: ['Embeddings', 'For conditions that compare the meaning of sentences.'],
  prompts: ['Chat model', 'For conditions that describe unwanted messages.'],
} as const
type Use = keyof typeof USES

export function Checks() {
  const appId = useAppId()
  const settings = useQuery({
    queryKey: appKey(appId, 'moderation', 'checks'),
    queryFn: () => manage.app(appId).moderationChecks.getSettings(),
  })
  return (
    <Page
      title="Message checks"
      description="Rules can ask other services about a message. It waits until they have answered."
    >
      {settings.isPending && <Skeleton lines={6} />}
      <Problem error={settings.error} retry={settings.refetch} />
      {settings.data && (
        <div className="stack">
          <CheckTester />
          <OwnCheck settings={settings.data} />
          <Secret signed={settings.data.signed} />
          <Providers />
          <ModelsForm settings={settings.data} />
          <Failures settings={settings.data} />
        </div>
      )}
    </Page>
  )
}

/** Saves some of the settings. */
function useSave(changes: () => Changes) {
  const appId = useAppId()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => manage.app(appId).moderationChecks.updateSettings(changes()),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
      toast('Saved')
    },
  })
}

function OwnCheck({ settings }: { settings: CheckSettings }) {
  const [url, setUrl] = useState(settings.url ?? '')
  const [basic, setBasic] = useState(settings.basicAuthEnabled)
  const [username, setUsername] = useState(settings.username ?? '')
  const [password, setPassword] = useState('')
  const [context, setContext] = useState(String(settings.contextMessages))
  const save = useSave(() => ({
    ...{ url: url || null, basicAuthEnabled: basic, contextMessages: Number(context) },
    ...(basic && { username, ...(password && { password }) }),
  }))
  return (
    <Panel
      title="Your own check"
      about="Rules with “Ask your own check” send messages to this URL. It answers whether a message is a hit."
    >
      <Form mutation={save} submit="Save">
        <Field
          label="URL"
          hint="Begins with https:// and is on the public internet."
          mono
          required={false}
          value={url}
          onChange={setUrl}
        />
        <Field
          label="Earlier messages"
          hint="How many messages of the conversation come along, up to 20."
          inputMode="numeric"
          pattern="\d+"
          value={context}
          onChange={setContext}
        />
        <Check label="Basic authentication" checked={basic} onChange={setBasic} />
        {basic && (
          <>
            <Field label="User name" value={username} onChange={setUsername} autoComplete="off" />
            <Field
              label="Password"
              hint={settings.basicAuthEnabled ? 'Leave it empty to keep the current one.' : ''}
              type="password"
              autoComplete="new-password"
              required={!settings.basicAuthEnabled}
              value={password}
              onChange={setPassword}
            />
          </>
        )}
      </Form>
    </Panel>
  )
}

function Secret({ signed }: { signed: boolean }) {
  const appId = useAppId()
  const rotate = useMutation({
    mutationFn: () => manage.app(appId).moderationChecks.rotateSecret(),
  })
  return (
    <Panel
      title="Secret"
      about={
        signed
          ? 'Requests to your check are signed. If you lost the secret, create a new one.'
          : 'Create a secret to let your check verify that requests come from Loquat.'
      }
    >
      <Problem error={rotate.error} />
      {rotate.data ? (
        <>
          <Copyable label="New secret" value={rotate.data.secret} />
          <p className="soft">Copy the secret now. You won't be able to see it again.</p>
        </>
      ) : (
        <Button isDisabled={rotate.isPending} onPress={() => rotate.mutate()}>
          Create new secret
        </Button>
      )}
    </Panel>
  )
}

function ModelsForm({ settings }: { settings: CheckSettings }) {
  const providers = useProviders()
  const [chosen, setChosen] = useState(() =>
    Object.fromEntries(
      Object.keys(USES).map((use) => [use, settings[use as Use] ?? { providerId: '', model: '' }]),
    ),
  )
  const save = useSave(() =>
    Object.fromEntries(
      Object.entries(chosen).map(([use, one]) => [use, one.providerId ? one : null]),
    ),
  )
  const names = Object.fromEntries(
    providers.data?.data.map(({ id, name }) => [id, name] as const) ?? [],
  )
  const change = (use: string, to: object) =>
    setChosen((all) => ({
      ...all,
      [use]: { ...all[use], ...to } as { providerId: string; model: string },
    }))
  return (
    <Panel title="Models" about="Which models conditions of rules ask.">
      <Form mutation={save} submit="Save">
        {Object.entries(USES).map(([use, [label, hint]]) => (
          <fieldset key={use} className="fields">
            <legend>{label}</legend>
            <Choice
              label="Provider"
              hint={hint}
              value={chosen[use]?.providerId ?? ''}
              options={{ '': 'None', ...names }}
              onChange={(providerId) => change(use, { providerId })}
            />
            {chosen[use]?.providerId && (
              <Field
                label="Model"
                mono
                value={chosen[use].model}
                onChange={(model) => change(use, { model })}
              />
            )}
          </fieldset>
        ))}
      </Form>
    </Panel>
  )
}

function Failures({ settings }: { settings: CheckSettings }) {
  const [onFailure, setOnFailure] = useState(settings.onFailure)
  const [timeoutMs, setTimeoutMs] = useState(String(settings.timeoutMs))
  const [deadline, setDeadline] = useState(String(settings.deadlineSeconds))
  const save = useSave(() => ({
    ...{ onFailure, timeoutMs: Number(timeoutMs), deadlineSeconds: Number(deadline) },
  }))
  return (
    <Panel title="If a check fails" about="A check that fails is repeated twice.">
      <Form mutation={save} submit="Save">
        <Choice label="Then" value={onFailure} options={OUTCOMES} onChange={setOnFailure} />
        <Field
          label="Time for an answer (milliseconds)"
          inputMode="numeric"
          pattern="\d+"
          value={timeoutMs}
          onChange={setTimeoutMs}
        />
        <Field
          label="Time for all checks of a message (seconds)"
          inputMode="numeric"
          pattern="\d+"
          value={deadline}
          onChange={setDeadline}
        />
      </Form>
    </Panel>
  )
}
