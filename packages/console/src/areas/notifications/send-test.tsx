/** Sends a notification to a user's devices at once, and shows what the provider answered. */
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Status } from '../../shared/status.tsx'

type Kind = 'web_push' | 'fcm' | 'apns' | 'custom'

const OUTCOMES = {
  delivered: ['Delivered', 'good', 'The provider has accepted it.'],
  gone: ['Gone', 'warn', 'It doesn’t exist any more. The next notification removes it.'],
  retry: ['No answer', 'warn', 'A notification would be sent again later.'],
  refused: ['Refused', 'bad', 'The provider refused the credentials or the content.'],
} as const

interface TestProps {
  kind: Kind
  /** Absent for the app's own server. */
  providerId?: string
}

export const SendTest = (props: TestProps) => (
  <Dialog title="Send test notification" trigger={<Button icon="send">Send test</Button>}>
    {() => <TestForm {...props} />}
  </Dialog>
)

function TestForm({ kind, providerId = '' }: TestProps) {
  const api = manage.app(useAppId()).pushProviders
  const [uid, setUid] = useState('')
  const send = useMutation({
    mutationFn: () => {
      const body = { uid: uid.trim() }
      if (kind === 'web_push') return api.testWeb(providerId, body)
      if (kind === 'fcm') return api.testFcm(providerId, body)
      return kind === 'apns' ? api.testApns(providerId, body) : api.testCustom(body)
    },
  })
  return (
    <div className="stack">
      <Form mutation={send} submit={send.isPending ? 'Sending…' : 'Send'}>
        <Field
          label="User"
          hint={
            kind === 'custom'
              ? 'The UID of the user that your server should notify.'
              : 'The UID of a user with a device that is registered with this provider.'
          }
          mono
          autoFocus
          value={uid}
          onChange={setUid}
        />
      </Form>
      <div aria-live="polite">
        {send.data?.outcomes.length === 0 && (
          <Status tone="warn">This user has no device of this provider</Status>
        )}
        <ul className="outcomes">
          {send.data?.outcomes.map(({ platform, pushToken, outcome, reason }, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            <Outcome key={nth} outcome={outcome} reason={reason}>
              {platform ? (
                <>
                  <code>{platform}</code> {pushToken}
                </>
              ) : (
                'Your server'
              )}
            </Outcome>
          ))}
        </ul>
      </div>
    </div>
  )
}

function Outcome(props: {
  outcome: keyof typeof OUTCOMES
  reason: string | undefined
  children: ReactNode
}) {
  const { outcome, reason, children } = props
  const [word, tone, about] = OUTCOMES[outcome]
  return (
    <li>
      <Status tone={tone}>{word}</Status>
      <span>{children}</span>
      <small>{reason ? `${about} (${reason})` : about}</small>
    </li>
  )
}

const CHANNELS = {
  email: { title: 'Send test email', hint: 'The UID of a user with a stored email address.' },
  sms: { title: 'Send test SMS', hint: 'The UID of a user with a stored phone number.' },
}
const SENDERS = {
  smtp: 'Your mail server',
  sendgrid: 'SendGrid',
  twilio: 'Twilio',
  custom: 'Your server',
}

/** Sends a sample through the provider that is in use, past all preferences. */
export const SendMailTest = ({ channel }: { channel: keyof typeof CHANNELS }) => (
  <Dialog title={CHANNELS[channel].title} trigger={<Button icon="send">Send test</Button>}>
    {() => <MailTestForm channel={channel} />}
  </Dialog>
)

function MailTestForm({ channel }: { channel: keyof typeof CHANNELS }) {
  const { emailProviders, smsProviders } = manage.app(useAppId())
  const [uid, setUid] = useState('')
  const send = useMutation({
    mutationFn: () => {
      const body = { uid: uid.trim() }
      return channel === 'email' ? emailProviders.test(body) : smsProviders.test(body)
    },
  })
  return (
    <div className="stack">
      <Form mutation={send} submit={send.isPending ? 'Sending…' : 'Send'}>
        <Field
          label="User"
          hint={CHANNELS[channel].hint}
          mono
          autoFocus
          value={uid}
          onChange={setUid}
        />
      </Form>
      <div aria-live="polite">
        {send.data && (
          <ul className="outcomes">
            <Outcome outcome={send.data.outcome} reason={send.data.reason}>
              {SENDERS[send.data.provider]}
            </Outcome>
          </ul>
        )}
      </div>
    </div>
  )
}
