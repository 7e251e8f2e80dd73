import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { newVapidKey, vapidPublicKeyOf } from '../../platform/push/vapid.ts'
import { masked } from './secrets.ts'

const server = useServer()

const pem = { type: 'pkcs8', format: 'pem' } as const
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem).toString()
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem).toString()

const fcm = (providerId: string, key = RSA) => ({
  providerId,
  serviceAccountCreds: {
    ...{ project_id: 'chat-1', client_email: 'push@example.org' },
    ...{ private_key: key, private_key_id: 'k1' },
  },
})
const apns = (providerId: string, p8Key = EC) => ({
  ...{ providerId, keyId: 'K', teamId: 'T', bundleId: 'org.example', p8KeyFilename: 'k.p8', p8Key },
})
const custom = {
  ...{ isEnabled: true, webhookURL: 'https://8.8.8.8/push', useBasicAuth: true },
  ...{ basicAuthUsername: 'u', basicAuthPassword: 'password-9876' },
}
const twilio = {
  ...{ twilioAccountSID: 'AC1', twilioAuthToken: 'token-5432' },
  twilioSenderPhoneNumber: '+33100000001',
}
const sendgrid = {
  ...{ sendGridApiKey: 'SG.key-1234', sendGridTemplateID: 't', sendGridUnsubscribeGroupID: '7' },
  ...{ senderName: 'Chat', senderEmail: 'chat@example.org', allowEmailReplies: false },
}

const smtp = {
  ...{ smtpHost: '8.8.8.8', smtpPort: 465, smtpSecurity: 'tls' as const },
  ...{ smtpUsername: 'chat', smtpPassword: 'password-4321' },
  ...{ senderName: 'Chat', senderEmail: 'chat@example.org', allowEmailReplies: false },
}

test('secrets show their last four characters, and short ones none', () => {
  assert.equal(masked('password-9876'), '****9876')
  assert.equal(masked('1234567'), '****')
  const body = RSA.replace(/-----.*-----/g, '').replace(/\s/g, '')
  assert.equal(masked(RSA), `****${body.slice(-4)}`)
})

suite('createFcmProvider, updateFcmProvider, setDefaultFcmProvider, deleteFcmProvider', () => {
  test('keep one default as long as there are any', async () => {
    const { pushProviders } = (await server.newApp()).client
    const shown = async () => {
      const { pushProviders: all } = await pushProviders.listFcm()
      return all.map(({ providerId, isDefault }) => [providerId, isDefault])
    }
    await pushProviders.createFcm(fcm('b'))
    await pushProviders.createFcm(fcm('a'))
    await refused(pushProviders.createFcm(fcm('a')), 'ERR_PROVIDER_ALREADY_EXISTS')
    assert.deepEqual(await shown(), [
      ['a', false],
      ['b', true],
    ])
    await refused(pushProviders.deleteFcm('b'), 'ERR_BAD_REQUEST')
    await pushProviders.setDefaultFcm('a')
    await refused(pushProviders.setDefaultFcm('c'), 'ERR_PROVIDER_NOT_FOUND')
    assert.deepEqual(await shown(), [
      ['a', true],
      ['b', false],
    ])
    await pushProviders.deleteFcm('b')
    await pushProviders.deleteFcm('a')
    await refused(pushProviders.deleteFcm('a'), 'ERR_PROVIDER_NOT_FOUND')
    assert.deepEqual(await shown(), [])
  })

  test('store the key encrypted and show it masked; the masked form keeps it', async () => {
    const app = await server.newApp()
    const { pushProviders } = app.client
    const { serviceAccountCreds, ...rest } = fcm('a')
    const file = { ...serviceAccountCreds, type: 'service_account', token_uri: 'https://x.example' }
    await pushProviders.createFcm({ ...rest, serviceAccountCreds: file })
    const sealed = async () =>
      (await rows(app.cell.db, 'select p::text from notification_providers p where app_no = $1', [
        app.no,
      ])) as unknown[]
    assert.ok(!JSON.stringify(await sealed()).includes('PRIVATE KEY'))
    const [first] = (await pushProviders.listFcm()).pushProviders
    assert.deepEqual(first, { ...fcm('a', masked(RSA)), isDefault: true })
    await pushProviders.updateFcm({ ...fcm('a', masked(RSA)), serviceAccountFilename: 'x.json' })
    const [second] = (await pushProviders.listFcm()).pushProviders
    assert.deepEqual(second, { ...first, serviceAccountFilename: 'x.json' })
    await refused(pushProviders.updateFcm(fcm('z')), 'ERR_PROVIDER_NOT_FOUND')
    for (const key of [EC, 'key', '****0000'])
      await refused(pushProviders.updateFcm(fcm('a', key)), 'ERR_BAD_REQUEST')
  })
})

suite('createApnsProvider, updateApnsProvider, setDefaultApnsProvider, deleteApnsProvider', () => {
  test('need a key of the right curve', async () => {
    const { pushProviders } = (await server.newApp()).client
    const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(pem)
    for (const key of [RSA, other.toString(), 'x'])
      await refused(pushProviders.createApns(apns('a', key)), 'ERR_BAD_REQUEST')
    const made = await pushProviders.createApns(apns('a'))
    assert.deepEqual(made.pushProviders, [{ ...apns('a', masked(EC)), isDefault: true }])
    await pushProviders.createApns(apns('b'))
    await pushProviders.updateApns({ ...apns('b'), productionMode: true })
    await pushProviders.setDefaultApns('b')
    await pushProviders.deleteApns('a')
    const { pushProviders: left } = await pushProviders.listApns()
    assert.deepEqual(left, [{ ...apns('b', masked(EC)), productionMode: true, isDefault: true }])
  })
})

suite('createCustomPushProvider, updateCustomPushProvider, deleteCustomPushProvider', () => {
  test('call public addresses only', async () => {
    const { pushProviders } = (await server.newApp()).client
    await refused(pushProviders.getCustom(), 'ERR_PROVIDER_NOT_FOUND')
    for (const webhookURL of ['http://8.8.8.8/', 'https://127.0.0.1/', 'https://localhost/', 'x'])
      await refused(pushProviders.createCustom({ ...custom, webhookURL }), 'ERR_BAD_REQUEST')
    const open = { ...custom, basicAuthPassword: '' }
    await refused(pushProviders.createCustom(open), 'ERR_BAD_REQUEST')
    await pushProviders.createCustom(custom)
    const shown = { ...custom, basicAuthPassword: '****9876' }
    assert.deepEqual((await pushProviders.getCustom()).pushProviders, [shown])
    const changed = await pushProviders.updateCustom({
      isEnabled: false,
      basicAuthPassword: '****9876',
    })
    assert.deepEqual(changed.pushProviders, [{ ...shown, isEnabled: false }])
    await refused(
      pushProviders.updateCustom({ webhookURL: 'https://10.0.0.1/' }),
      'ERR_BAD_REQUEST',
    )
    await pushProviders.updateCustom({ webhookURL: 'https://8.8.8.8/other' })
    // Its password is sent nowhere else.
    for (const basicAuthPassword of [undefined, '****9876']) {
      const moved = {
        webhookURL: 'https://8.8.4.4/push',
        ...(basicAuthPassword && { basicAuthPassword }),
      }
      const { details } = await refused(pushProviders.updateCustom(moved), 'ERR_BAD_REQUEST')
      assert.deepEqual(Object.keys(details ?? {}), ['basicAuthPassword'])
    }
    await pushProviders.deleteCustom()
    await refused(pushProviders.deleteCustom(), 'ERR_PROVIDER_NOT_FOUND')
  })
})

suite('createTwilioProvider, updateTwilioProvider, deleteTwilioProvider', () => {
  test('stand apart from the custom one', async () => {
    const { smsProviders } = (await server.newApp()).client
    const shown = { ...twilio, twilioAuthToken: '****5432' }
    assert.deepEqual(await smsProviders.createTwilio(twilio), { ...shown, isEnabled: true })
    const off = await smsProviders.updateTwilio({ isEnabled: false })
    assert.deepEqual(off, { ...shown, isEnabled: false })
    assert.deepEqual(await smsProviders.getTwilio(), off)
    await refused(smsProviders.getCustom(), 'ERR_PROVIDER_NOT_FOUND')
    await smsProviders.deleteTwilio()
    await refused(smsProviders.updateTwilio({ isEnabled: true }), 'ERR_PROVIDER_NOT_FOUND')
  })
})

suite('createCustomSmsProvider, updateCustomSmsProvider, deleteCustomSmsProvider', () => {
  test('store whether phone numbers are needed', async () => {
    const { smsProviders } = (await server.newApp()).client
    await smsProviders.createCustom({ ...custom, useStoredPhNo: true })
    await smsProviders.updateCustom({ useStoredPhNo: false })
    assert.equal((await smsProviders.getCustom()).useStoredPhNo, false)
    await smsProviders.deleteCustom()
    await refused(smsProviders.getCustom(), 'ERR_PROVIDER_NOT_FOUND')
  })
})

suite('createSendgridProvider, updateSendgridProvider, deleteSendgridProvider', () => {
  test('need an address for replies if they allow them', async () => {
    const { emailProviders } = (await server.newApp()).client
    const replies = { ...sendgrid, allowEmailReplies: true }
    await refused(emailProviders.createSendgrid(replies), 'ERR_BAD_REQUEST')
    const senderEmailForReplies = 'reply@example.org'
    const made = await emailProviders.createSendgrid({ ...replies, senderEmailForReplies })
    const shown = { ...replies, senderEmailForReplies, sendGridApiKey: '****1234', isEnabled: true }
    const { repliesWebhook, eventsWebhook, ...stored } = made
    assert.deepEqual(stored, shown)
    assert.match(repliesWebhook ?? '', /\/mail\/inbound\/[\w.-]+$/)
    assert.match(eventsWebhook ?? '', /\/mail\/events\/[\w.-]+$/)
    await refused(emailProviders.updateSendgrid({ senderEmailForReplies: null }), 'ERR_BAD_REQUEST')
    assert.deepEqual(await emailProviders.getSendgrid(), made)
    await emailProviders.deleteSendgrid()
    await refused(emailProviders.getSendgrid(), 'ERR_PROVIDER_NOT_FOUND')
  })
})

suite('createSmtpProvider, updateSmtpProvider, deleteSmtpProvider', () => {
  test('store both secrets encrypted and show them masked', async () => {
    const app = await server.newApp()
    const { emailProviders } = app.client
    const dkim = { dkimDomain: 'example.org', dkimSelector: 's1', dkimPrivateKey: RSA }
    const made = await emailProviders.createSmtp({ ...smtp, ...dkim })
    const shown = {
      ...{ ...smtp, ...dkim, smtpPassword: '****4321', dkimPrivateKey: masked(RSA) },
      isEnabled: true,
    }
    assert.deepEqual(made, shown)
    const sql = 'select p::text from notification_providers p where app_no = $1'
    const stored = JSON.stringify(await rows(app.cell.db, sql, [app.no]))
    assert.ok(!stored.includes('PRIVATE KEY') && !stored.includes('password-4321'))
    const changed = await emailProviders.updateSmtp({
      ...{ smtpPassword: '****4321', dkimPrivateKey: masked(RSA), smtpPort: 587 },
    })
    assert.deepEqual(changed, { ...shown, smtpPort: 587 })
    const other = await emailProviders.updateSmtp({ smtpPassword: 'password-8765' })
    assert.deepEqual([other.smtpPassword, other.dkimPrivateKey], ['****8765', masked(RSA)])
    assert.deepEqual(await emailProviders.getSmtp(), other)
    await refused(emailProviders.updateSmtp({ smtpHost: '8.8.4.4' }), 'ERR_BAD_REQUEST')
    await emailProviders.deleteSmtp()
    await refused(emailProviders.getSmtp(), 'ERR_PROVIDER_NOT_FOUND')
  })

  test('need a public host, and all or nothing of a login and of DKIM', async () => {
    const { emailProviders } = (await server.newApp()).client
    const wrong = [
      { smtpHost: '127.0.0.1' },
      { smtpHost: 'localhost' },
      { smtpHost: 'mail.internal' },
      { smtpHost: '2130706433' },
      { smtpPassword: '' },
      { dkimDomain: 'example.org' },
      { dkimDomain: 'example.org', dkimSelector: 's1', dkimPrivateKey: EC },
      { allowEmailReplies: true },
    ]
    for (const fields of wrong)
      await refused(emailProviders.createSmtp({ ...smtp, ...fields }), 'ERR_BAD_REQUEST')
    await refused(emailProviders.getSmtp(), 'ERR_PROVIDER_NOT_FOUND')
    const { smtpUsername: _name, smtpPassword: _password, ...open } = smtp
    await emailProviders.createSmtp(open)
    await refused(emailProviders.updateSmtp({ smtpHost: '10.0.0.1' }), 'ERR_BAD_REQUEST')
  })
})

suite('createCustomEmailProvider, updateCustomEmailProvider, deleteCustomEmailProvider', () => {
  test('store whether addresses are needed', async () => {
    const { emailProviders } = (await server.newApp()).client
    await emailProviders.createCustom({ ...custom, useStoredEmailID: false })
    await emailProviders.updateCustom({ useStoredEmailID: true, basicAuthUsername: 'v' })
    const stored = await emailProviders.getCustom()
    assert.deepEqual(
      [stored.useStoredEmailID, stored.basicAuthUsername, stored.basicAuthPassword],
      [true, 'v', '****9876'],
    )
    await emailProviders.deleteCustom()
    await refused(emailProviders.getCustom(), 'ERR_PROVIDER_NOT_FOUND')
  })
})

suite('createWebPushProvider, updateWebPushProvider, setDefaultWebPushProvider, deleteWebPushProvider', () => {
  const subject = 'mailto:push@example.org'

  test('make a key pair, show its public key and keep it', async () => {
    const app = await server.newApp()
    const { pushProviders } = app.client
    const [made] = (await pushProviders.createWeb({ providerId: 'a', subject })).pushProviders
    const { publicKey, privateKey, isDefault } = made ?? assert.fail()
    assert.match(publicKey, /^B[\w-]{86}$/)
    assert.match(privateKey, /^\*{4}[\w-]{4}$/)
    assert.equal(isDefault, true)
    const moved = 'https://example.org/contact'
    await pushProviders.updateWeb({ providerId: 'a', subject: moved, privateKey })
    await pushProviders.updateWeb({ providerId: 'a', subject: moved })
    const change = { providerId: 'a', subject, privateKey: newVapidKey() }
    const refusal = await refused(pushProviders.updateWeb(change), 'ERR_BAD_REQUEST')
    assert.match(String(refusal.details?.privateKey), /add another provider/)
    const { pushProviders: after } = await pushProviders.listWeb()
    assert.deepEqual(after, [{ ...made, subject: moved }])
    const stored = 'select details from notification_providers where app_no = $1'
    assert.deepEqual(await rows(app.cell.db, stored, [app.no]), [
      { details: { providerId: 'a', subject: moved, publicKey } },
    ])
  })

  test('accept a key that browsers subscribed with elsewhere, and nothing else', async () => {
    const { pushProviders } = (await server.newApp()).client
    const privateKey = newVapidKey()
    await pushProviders.createWeb({ providerId: 'a', subject, privateKey })
    const [shown] = (await pushProviders.listWeb()).pushProviders
    assert.equal(shown?.publicKey, vapidPublicKeyOf(privateKey))
    assert.equal(shown?.privateKey, masked(privateKey))
    const bad = { providerId: 'b', subject, privateKey: EC }
    await refused(pushProviders.createWeb(bad), 'ERR_BAD_REQUEST')
    const far = { providerId: 'b', subject: 'push@example.org' }
    await refused(pushProviders.createWeb(far), 'ERR_BAD_REQUEST')
  })
})
