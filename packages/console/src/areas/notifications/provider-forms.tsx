import type { ApnsProvider, CustomProvider, FcmProvider, WebPushProvider } from '@loquat/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Check, Field, Form, TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

export type AppApi = ReturnType<typeof manage.app>

export const KEEP = 'Leave it empty to keep the current one.'

/** Stores a provider, and shows the list with it. */
export function useStore(store: (api: AppApi) => Promise<unknown>, onDone: () => void) {
  const appId = useAppId()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => store(manage.app(appId)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'notifications', 'providers') })
      onDone()
      toast('Saved')
    },
  })
}

const IdField = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => (
  <Field
    label="Provider ID"
    hint="A name of your choice, which devices can register with. You can't change it later."
    mono
    autoFocus
    value={value}
    onChange={onChange}
  />
)

export interface FormProps<P> {
  provider?: P
  onDone: () => void
}

export function WebPushForm({ provider, onDone }: FormProps<WebPushProvider>) {
  const [id, setId] = useState(provider?.providerId ?? '')
  const [subject, setSubject] = useState(provider?.subject ?? 'mailto:')
  const [privateKey, setPrivateKey] = useState('')
  const body = { providerId: id, subject, ...(privateKey && { privateKey }) }
  const store = useStore(
    ({ pushProviders: api }) => (provider ? api.updateWeb(body) : api.createWeb(body)),
    onDone,
  )
  return (
    <Form mutation={store} submit="Save">
      {!provider && <IdField value={id} onChange={setId} />}
      <Field
        label="Contact"
        hint="How push services reach you: mailto: and an address, or an https:// URL."
        mono
        value={subject}
        onChange={setSubject}
      />
      {!provider && (
        <Field
          label="Private key"
          hint="Leave it empty, and a key is made. Pass the VAPID key of your old service to keep its subscriptions."
          type="password"
          autoComplete="new-password"
          required={false}
          value={privateKey}
          onChange={setPrivateKey}
        />
      )}
    </Form>
  )
}

export function FcmForm({ provider, onDone }: FormProps<FcmProvider>) {
  const [id, setId] = useState(provider?.providerId ?? '')
  const [file, setFile] = useState('')
  const store = useStore(({ pushProviders: api }) => {
    const account = file ? JSON.parse(file) : provider?.serviceAccountCreds
    const { project_id, client_email, private_key, private_key_id } = account
    const body = {
      ...(provider?.notificationInPayload && {
        notificationInPayload: provider.notificationInPayload,
      }),
      providerId: id,
      serviceAccountCreds: { project_id, client_email, private_key, private_key_id },
    }
    return provider ? api.updateFcm(body) : api.createFcm(body)
  }, onDone)
  return (
    <Form mutation={store} submit="Save">
      {!provider && <IdField value={id} onChange={setId} />}
      <TextArea
        label="Service account"
        hint={`The JSON file that Google gives you for the account. ${provider ? KEEP : ''}`}
        mono
        rows={8}
        required={!provider}
        value={file}
        onChange={setFile}
      />
    </Form>
  )
}

export function ApnsForm({ provider, onDone }: FormProps<ApnsProvider>) {
  const [id, setId] = useState(provider?.providerId ?? '')
  const [keyId, setKeyId] = useState(provider?.keyId ?? '')
  const [teamId, setTeamId] = useState(provider?.teamId ?? '')
  const [bundleId, setBundleId] = useState(provider?.bundleId ?? '')
  const [key, setKey] = useState('')
  const [production, setProduction] = useState(provider?.productionMode ?? true)
  const store = useStore(({ pushProviders: api }) => {
    const { isDefault: _default, ...before } = provider ?? { p8KeyFilename: '', isDefault: false }
    const body = {
      ...before,
      ...{ providerId: id, keyId, teamId, bundleId, productionMode: production },
      p8Key: key || (provider?.p8Key ?? ''),
    }
    return provider ? api.updateApns(body) : api.createApns(body)
  }, onDone)
  return (
    <Form mutation={store} submit="Save">
      {!provider && <IdField value={id} onChange={setId} />}
      <Field label="Bundle ID" mono value={bundleId} onChange={setBundleId} />
      <Field label="Team ID" mono value={teamId} onChange={setTeamId} />
      <Field label="Key ID" mono value={keyId} onChange={setKeyId} />
      <TextArea
        label="Key"
        hint={`The text of the .p8 file. ${provider ? KEEP : ''}`}
        mono
        rows={6}
        required={!provider}
        value={key}
        onChange={setKey}
      />
      <Check
        label="Production"
        hint="Off: the sandbox, for apps that run from Xcode."
        checked={production}
        onChange={setProduction}
      />
    </Form>
  )
}

/** What the server of an app gets beside the content, by channel. */
const ADDRESSES = {
  push: undefined,
  email: ['useStoredEmailID', 'Only for users with a stored email address, which it gets too'],
  sms: ['useStoredPhNo', 'Only for users with a stored phone number, which it gets too'],
} as const

/** A server of the app's own, for push, email or SMS. */
export const customForm =
  (channel: keyof typeof ADDRESSES) =>
  (props: FormProps<CustomProvider & { useStoredEmailID?: boolean; useStoredPhNo?: boolean }>) => (
    <CustomForm channel={channel} {...props} />
  )

function CustomForm({
  channel,
  provider,
  onDone,
}: FormProps<CustomProvider & { useStoredEmailID?: boolean; useStoredPhNo?: boolean }> & {
  channel: keyof typeof ADDRESSES
}) {
  const [flag, flagLabel] = ADDRESSES[channel] ?? []
  const [url, setUrl] = useState(provider?.webhookURL ?? '')
  const [isEnabled, setEnabled] = useState(provider?.isEnabled ?? true)
  const [useBasicAuth, setBasic] = useState(provider?.useBasicAuth ?? false)
  const [username, setUsername] = useState(provider?.basicAuthUsername ?? '')
  const [password, setPassword] = useState('')
  const [addressed, setAddressed] = useState((flag && provider?.[flag]) ?? true)
  const store = useStore(({ pushProviders, emailProviders, smsProviders }) => {
    const body = {
      ...{ isEnabled, webhookURL: url, useBasicAuth, basicAuthUsername: username },
      ...(flag && { [flag]: addressed }),
    }
    const whole = { ...body, basicAuthPassword: password }
    const changes = { ...body, ...(password && { basicAuthPassword: password }) }
    switch (channel) {
      case 'push':
        return provider ? pushProviders.updateCustom(changes) : pushProviders.createCustom(whole)
      case 'email': {
        const useStoredEmailID = addressed
        return provider
          ? emailProviders.updateCustom(changes)
          : emailProviders.createCustom({ ...whole, useStoredEmailID })
      }
      default: {
        const useStoredPhNo = addressed
        return provider
          ? smsProviders.updateCustom(changes)
          : smsProviders.createCustom({ ...whole, useStoredPhNo })
      }
    }
  }, onDone)
  return (
    <Form mutation={store} submit="Save">
      <Field
        label="URL"
        hint="Begins with https:// and is on the public internet."
        mono
        autoFocus
        value={url}
        onChange={setUrl}
      />
      <Check label="In use" checked={isEnabled} onChange={setEnabled} />
      {flag && <Check label={flagLabel ?? ''} checked={addressed} onChange={setAddressed} />}
      <Check label="Basic authentication" checked={useBasicAuth} onChange={setBasic} />
      {useBasicAuth && (
        <>
          <Field label="User name" value={username} onChange={setUsername} autoComplete="off" />
          <Field
            label="Password"
            hint={provider?.useBasicAuth ? KEEP : ''}
            type="password"
            autoComplete="new-password"
            required={!provider?.useBasicAuth}
            value={password}
            onChange={setPassword}
          />
        </>
      )}
    </Form>
  )
}
