/** Services for email and SMS, and the app's own servers. */
import { Copyable } from '../../shared/copyable.tsx'
import { SendgridForm, SmtpForm, TwilioForm } from './mail-forms.tsx'
import { customForm } from './provider-forms.tsx'
import { SendMailTest, SendTest } from './send-test.tsx'
import { single } from './single-provider.tsx'

const OWN = {
  name: 'Your own server',
  about: 'Gets each notification as JSON, and passes it on as you like.',
  facts: ({ webhookURL }: { webhookURL: string }) => <code>{webhookURL}</code>,
}

export const OWN_PUSH_SERVER = single({
  ...OWN,
  id: 'custom',
  title: 'Push through your own server',
  get: async ({ pushProviders }) => {
    const [provider] = (await pushProviders.getCustom()).pushProviders
    if (!provider) throw new Error('The answer has no provider.')
    return provider
  },
  remove: ({ pushProviders }) => pushProviders.deleteCustom(),
  form: customForm('push'),
  test: <SendTest kind="custom" />,
})

export const EMAIL = [
  single({
    id: 'smtp',
    name: 'SMTP',
    title: 'Email over SMTP',
    about:
      'Your own mail server, or that of a mail service. It needs TLS with a valid certificate.',
    get: ({ emailProviders }) => emailProviders.getSmtp(),
    remove: ({ emailProviders }) => emailProviders.deleteSmtp(),
    facts: ({ smtpHost, smtpPort, senderName, senderEmail, dkimDomain }) => (
      <>
        <code>
          {smtpHost}:{smtpPort}
        </code>
        <small>
          From {senderName} ({senderEmail}){dkimDomain && `, signed for ${dkimDomain}`}
        </small>
      </>
    ),
    form: SmtpForm,
    test: <SendMailTest channel="email" />,
  }),
  single({
    id: 'sendgrid',
    name: 'SendGrid',
    title: 'Email with SendGrid',
    about: 'Email through an account at SendGrid.',
    get: ({ emailProviders }) => emailProviders.getSendgrid(),
    remove: ({ emailProviders }) => emailProviders.deleteSendgrid(),
    facts: ({ senderName, senderEmail, repliesWebhook, eventsWebhook }) => (
      <>
        <span>
          From {senderName} ({senderEmail})
        </span>
        {eventsWebhook && <Copyable label="Event webhook" value={eventsWebhook} />}
        {repliesWebhook && <Copyable label="Inbound parse webhook" value={repliesWebhook} />}
      </>
    ),
    form: SendgridForm,
    test: <SendMailTest channel="email" />,
  }),
  single({
    ...OWN,
    id: 'custom-email',
    title: 'Email through your own server',
    get: ({ emailProviders }) => emailProviders.getCustom(),
    remove: ({ emailProviders }) => emailProviders.deleteCustom(),
    form: customForm('email'),
    test: <SendMailTest channel="email" />,
  }),
]

export const SMS = [
  single({
    id: 'twilio',
    name: 'Twilio',
    title: 'SMS with Twilio',
    about: 'SMS through an account at Twilio.',
    get: ({ smsProviders }) => smsProviders.getTwilio(),
    remove: ({ smsProviders }) => smsProviders.deleteTwilio(),
    facts: ({ twilioAccountSID, twilioSenderPhoneNumber }) => (
      <span>
        From {twilioSenderPhoneNumber}, account <code>{twilioAccountSID}</code>
      </span>
    ),
    form: TwilioForm,
    test: <SendMailTest channel="sms" />,
  }),
  single({
    ...OWN,
    id: 'custom-sms',
    title: 'SMS through your own server',
    get: ({ smsProviders }) => smsProviders.getCustom(),
    remove: ({ smsProviders }) => smsProviders.deleteCustom(),
    form: customForm('sms'),
    test: <SendMailTest channel="sms" />,
  }),
]
