import type { SendgridProvider, SmtpProvider, TwilioProvider } from '@loquat/sdk'
import { useState } from 'react'
import { Check, Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { type FormProps, KEEP, useStore } from './provider-forms.tsx'

const SECURITY = {
  starttls: 'STARTTLS, usually port 587',
  tls: 'TLS from the start, usually port 465',
}

/** Fields of one form, with what a field needs to show and change one of them. */
function useFields<T extends object>(first: T) {
  const [fields, setFields] = useState(first)
  const change = (changes: Partial<T>) => setFields({ ...fields, ...changes })
  const bind = <K extends keyof T>(name: K) => ({
    value: fields[name],
    onChange: (value: T[K]) => change({ [name]: value } as unknown as Partial<T>),
  })
  return { fields, change, bind }
}

/** A field for a secret, which is never shown: an empty one keeps what is stored. */
function SecretField(props: {
  label: string
  stored: string | undefined
  hint?: string
  value: string
  onChange: (value: string) => void
}) {
  const { stored, hint, ...field } = props
  const kept = stored ? `Now ${stored}. ${KEEP}` : undefined
  return (
    <Field
      {...field}
      hint={[hint, kept].filter(Boolean).join(' ')}
      type="password"
      autoComplete="new-password"
      required={!stored}
    />
  )
}

interface SenderFields {
  senderName: string
  senderEmail: string
  allowEmailReplies: boolean
  senderEmailForReplies: string
}

const senderOf = (provider?: SmtpProvider | SendgridProvider): SenderFields => ({
  senderName: provider?.senderName ?? '',
  senderEmail: provider?.senderEmail ?? '',
  allowEmailReplies: provider?.allowEmailReplies ?? false,
  senderEmailForReplies: provider?.senderEmailForReplies ?? '',
})

const senderBody = (fields: SenderFields) => {
  const { senderName, senderEmail, allowEmailReplies, senderEmailForReplies } = fields
  const replies = { senderEmailForReplies: allowEmailReplies ? senderEmailForReplies : null }
  return { senderName, senderEmail, allowEmailReplies, ...replies }
}

/** The sender of emails, and whether answers come back. */
function Sender(props: {
  fields: SenderFields
  change: (changes: Partial<SenderFields>) => void
  replyHint: string
}) {
  const { fields, change, replyHint } = props
  return (
    <>
      <Field
        label="Sender's name"
        value={fields.senderName}
        onChange={(senderName) => change({ senderName })}
      />
      <Field
        label="Sender's address"
        type="email"
        value={fields.senderEmail}
        onChange={(senderEmail) => change({ senderEmail })}
      />
      <Check
        label="Answers by email become messages"
        checked={fields.allowEmailReplies}
        onChange={(allowEmailReplies) => change({ allowEmailReplies })}
      />
      {fields.allowEmailReplies && (
        <Field
          label="Address for answers"
          hint={replyHint}
          type="email"
          value={fields.senderEmailForReplies}
          onChange={(senderEmailForReplies) => change({ senderEmailForReplies })}
        />
      )}
    </>
  )
}

export function SmtpForm({ provider, onDone }: FormProps<SmtpProvider>) {
  const { fields, change, bind } = useFields({
    ...senderOf(provider),
    smtpHost: provider?.smtpHost ?? '',
    smtpPort: String(provider?.smtpPort ?? 587),
    smtpSecurity: provider?.smtpSecurity ?? ('starttls' as const),
    isEnabled: provider?.isEnabled ?? true,
    smtpUsername: provider?.smtpUsername ?? '',
    smtpPassword: '',
    dkimDomain: provider?.dkimDomain ?? '',
    dkimSelector: provider?.dkimSelector ?? '',
    dkimPrivateKey: '',
  })
  const store = useStore(({ emailProviders }) => {
    const { smtpHost, smtpPort, smtpSecurity, isEnabled } = fields
    const { smtpUsername, smtpPassword, dkimDomain, dkimSelector, dkimPrivateKey } = fields
    const body = {
      ...senderBody(fields),
      ...{ smtpHost, smtpPort: Number(smtpPort), smtpSecurity, isEnabled },
      ...login({ smtpUsername, smtpPassword }, provider),
      ...signature({ dkimDomain, dkimSelector, dkimPrivateKey }, provider),
    }
    return provider ? emailProviders.updateSmtp(body) : emailProviders.createSmtp(body)
  }, onDone)
  return (
    <Form mutation={store} submit="Save">
      <Field
        label="Host"
        hint="A mail server on the public internet."
        mono
        autoFocus
        {...bind('smtpHost')}
      />
      <Field label="Port" inputMode="numeric" pattern="[0-9]{1,5}" {...bind('smtpPort')} />
      <Choice
        label="Encryption"
        options={SECURITY}
        value={fields.smtpSecurity}
        onChange={(smtpSecurity) =>
          change({ smtpSecurity, smtpPort: smtpSecurity === 'tls' ? '465' : '587' })
        }
      />
      <Field
        label="User name"
        hint="Leave it empty if the server needs no login."
        autoComplete="off"
        required={false}
        {...bind('smtpUsername')}
      />
      {fields.smtpUsername && (
        <SecretField label="Password" stored={provider?.smtpPassword} {...bind('smtpPassword')} />
      )}
      <Sender
        fields={fields}
        change={change}
        replyHint="Each email gets a variant of it, such as reply+…@example.org. Mail to it must reach the SMTP listener of this installation."
      />
      <Field
        label="DKIM domain"
        hint="Signs emails, so that they don't count as spam. Leave it empty if your mail server does this."
        mono
        required={false}
        {...bind('dkimDomain')}
      />
      {fields.dkimDomain && (
        <>
          <Field
            label="DKIM selector"
            hint={`The public key is at ${fields.dkimSelector || '<selector>'}._domainkey.${fields.dkimDomain}.`}
            mono
            {...bind('dkimSelector')}
          />
          <TextArea
            label="DKIM private key"
            hint={`An RSA key as PEM. ${provider?.dkimPrivateKey ? KEEP : ''}`}
            mono
            rows={6}
            required={!provider?.dkimPrivateKey}
            {...bind('dkimPrivateKey')}
          />
        </>
      )}
      <Check label="In use" checked={fields.isEnabled} onChange={bind('isEnabled').onChange} />
    </Form>
  )
}

/** Both or none. An empty password keeps the stored one; an empty name removes the login. */
function login(
  { smtpUsername, smtpPassword }: { smtpUsername: string; smtpPassword: string },
  stored?: SmtpProvider,
) {
  if (smtpUsername) return { smtpUsername, ...(smtpPassword && { smtpPassword }) }
  return stored?.smtpUsername ? { smtpUsername: '', smtpPassword: '' } : {}
}

/** All or nothing, as with the login. */
function signature(
  fields: { dkimDomain: string; dkimSelector: string; dkimPrivateKey: string },
  stored?: SmtpProvider,
) {
  const { dkimDomain, dkimSelector, dkimPrivateKey } = fields
  if (dkimDomain) return { dkimDomain, dkimSelector, ...(dkimPrivateKey && { dkimPrivateKey }) }
  return stored?.dkimDomain ? { dkimDomain: '', dkimSelector: '', dkimPrivateKey: '' } : {}
}

export function SendgridForm({ provider, onDone }: FormProps<SendgridProvider>) {
  const { fields, change, bind } = useFields({
    ...senderOf(provider),
    sendGridApiKey: '',
    sendGridTemplateID: provider?.sendGridTemplateID ?? '',
    sendGridUnsubscribeGroupID: provider?.sendGridUnsubscribeGroupID ?? '',
    isEnabled: provider?.isEnabled ?? true,
  })
  const store = useStore(({ emailProviders }) => {
    const { sendGridApiKey, sendGridTemplateID, sendGridUnsubscribeGroupID, isEnabled } = fields
    const body = {
      ...senderBody(fields),
      ...{ sendGridTemplateID, sendGridUnsubscribeGroupID, isEnabled },
    }
    if (!provider) return emailProviders.createSendgrid({ ...body, sendGridApiKey })
    return emailProviders.updateSendgrid({ ...body, ...(sendGridApiKey && { sendGridApiKey }) })
  }, onDone)
  return (
    <Form mutation={store} submit="Save">
      <SecretField label="API key" stored={provider?.sendGridApiKey} {...bind('sendGridApiKey')} />
      <Field label="Template ID" mono {...bind('sendGridTemplateID')} />
      <Field label="Unsubscribe group ID" mono {...bind('sendGridUnsubscribeGroupID')} />
      <Sender
        fields={fields}
        change={change}
        replyHint="Its host must be the one of SendGrid's inbound parse webhook. You get the URL for it after you save."
      />
      <Check label="In use" checked={fields.isEnabled} onChange={bind('isEnabled').onChange} />
    </Form>
  )
}

export function TwilioForm({ provider, onDone }: FormProps<TwilioProvider>) {
  const { fields, bind } = useFields({
    twilioAccountSID: provider?.twilioAccountSID ?? '',
    twilioAuthToken: '',
    twilioSenderPhoneNumber: provider?.twilioSenderPhoneNumber ?? '',
    isEnabled: provider?.isEnabled ?? true,
  })
  const store = useStore(({ smsProviders }) => {
    const { twilioAuthToken, ...body } = fields
    if (!provider) return smsProviders.createTwilio(fields)
    return smsProviders.updateTwilio({ ...body, ...(twilioAuthToken && { twilioAuthToken }) })
  }, onDone)
  return (
    <Form mutation={store} submit="Save">
      <Field label="Account SID" mono autoFocus {...bind('twilioAccountSID')} />
      <SecretField
        label="Auth token"
        stored={provider?.twilioAuthToken}
        {...bind('twilioAuthToken')}
      />
      <Field
        label="Sender's phone number"
        hint="With the code of the country, such as +14155550100."
        mono
        {...bind('twilioSenderPhoneNumber')}
      />
      <Check label="In use" checked={fields.isEnabled} onChange={bind('isEnabled').onChange} />
    </Form>
  )
}
