/** Why a user was notified of a message, or not. */
import type { NotificationExplanation, NotificationWay } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, Form } from '../../shared/form.tsx'
import { manage } from '../../shared/manage.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { CHANNELS, wordsFor } from './reasons.ts'
import './notifications.css'

interface ExplainProps {
  appId: string
  messageId: string
  /** Who is asked about first. */
  uid: string
}

export function ExplainNotification({ appId, messageId, uid: first }: ExplainProps) {
  const [uid, setUid] = useState(first)
  const ask = useMutation({
    mutationFn: () => manage.app(appId).notifications.explain({ uid: uid.trim(), messageId }),
  })
  return (
    <div className="stack">
      <Form mutation={ask} submit="Explain">
        <Field label="User" hint="A UID." mono autoFocus value={uid} onChange={setUid} />
      </Form>
      {ask.data && <Explanation explanation={ask.data} />}
    </div>
  )
}

const WORDS = { yes: 'Notified', no: 'Not notified', later: 'Later' }
const TONES = { yes: 'good', no: 'plain', later: 'info' } as const

function Explanation({ explanation }: { explanation: NotificationExplanation }) {
  const { ways, read, waiting, log } = explanation
  return (
    <section className="stack" aria-live="polite">
      <ul className="outcomes">
        {ways.map((way, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
          <Way key={nth} way={way} />
        ))}
      </ul>
      <p className="soft">
        With the settings of today, at the time of the message.
        {read && ' The user has read the message meanwhile.'}
        {waiting > 0 && ` ${waiting} still wait for their provider.`}
      </p>
      {log.length > 0 && (
        <>
          <h3>What happened</h3>
          <ul className="outcomes">
            {log.map(({ _id, channel, provider, notificationTriggered, success, ...entry }) => (
              <li key={_id}>
                <Status tone={success ? 'good' : notificationTriggered ? 'bad' : 'plain'}>
                  {success ? 'Delivered' : notificationTriggered ? 'Failed' : 'Not notified'}
                </Status>
                <span>
                  {provider ?? CHANNELS[channel]}{' '}
                  <Time at={Math.floor(entry.processingEndedAtMS / 1000)} />
                </span>
                {entry.reason && <small>{wordsFor(entry.reason)}</small>}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const Way = ({ way }: { way: NotificationWay }) => {
  const { channel, notified, reason, at, platform, pushToken, provider, providerId } = way
  return (
    <li>
      <Status tone={TONES[notified]}>{WORDS[notified]}</Status>
      <span>
        {CHANNELS[channel]}
        {platform && (
          <>
            {' '}
            to <code>{platform}</code> {pushToken}
          </>
        )}
        {provider && ` through ${provider}${providerId ? ` (${providerId})` : ''}`}
      </span>
      {reason && (
        <small>
          {wordsFor(reason)}
          {at !== undefined && (
            <>
              {' '}
              It arrives <Time at={Math.floor(at / 1000)} />.
            </>
          )}
        </small>
      )}
    </li>
  )
}
