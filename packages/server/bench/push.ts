/** What a notification costs its sender: CPU of deliveries beside bare HTTP/2 requests with the same bodies. */
import { type ChildProcess, fork } from 'node:child_process'
import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { openMetrics } from '../src/platform/metrics/metrics.ts'
import { Targets } from '../src/platform/net/targets.ts'
import { PUSH_LIMITS } from '../src/platform/push/limits.ts'
import type { Notification } from '../src/platform/push/notification.ts'
import { Push, type PushCredentials } from '../src/platform/push/push.ts'
import { newAuthority } from '../test/certificates.ts'
import { atLeast, type Figure, median, type Report, reported } from './figure.ts'

const DELIVERIES = 2_000
const AT_ONCE = 200
const ROUNDS = 4
const BAR = 0.4

/** Deliveries for each second of this process's CPU. */
type Rate = number
type Send = () => Promise<void>

const TEXT = 'I will be there in ten minutes. '.repeat(10)

export async function push(_env: EnginesEnv, report: Report): Promise<Figure[]> {
  const authority = newAuthority()
  const { key, cert } = authority.sign('IP:127.0.0.1')
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority.file, 'utf8')])
  const provider = fork(fileURLToPath(new URL('push-server.ts', import.meta.url)), [key, cert])
  const url = await urlOf(provider)
  const metrics = openMetrics()
  const session = connect(url)
  const pushes = new Push({
    addresses: { apnsUrl: url, apnsSandboxUrl: url, fcmUrl: url, googleTokenUrl: url },
    targets: new Targets({ privateTargets: true, nameServers: [] }),
    metrics,
    // A machine that is busy with something else stops for seconds.
    limits: { ...PUSH_LIMITS, timeoutMs: 600_000 },
  })
  try {
    const ways = waysOf(pushes, url)
    const rates = await measure({ bare: () => bare(session), ...ways }, report)
    const { bare: alone, apns, fcm, browsers } = rates
    return [
      atLeast('deliveries to Apple per second of CPU', apns, alone, BAR),
      atLeast('deliveries to Google per second of CPU', fcm, alone, BAR),
      reported('deliveries to browsers per second of CPU', browsers, alone),
    ]
  } finally {
    pushes.close()
    session.destroy()
    provider.kill()
    await metrics.close()
    authority.remove()
  }
}

export async function urlOf(provider: ChildProcess): Promise<string> {
  const [{ port }] = (await once(provider, 'message')) as [{ port: number }]
  return `https://127.0.0.1:${port}`
}

const APNS_PAYLOAD = {
  aps: { alert: { title: 'Ada @ Team', body: TEXT }, badge: 7, sound: 'default' },
  ...{ sender: 'ada', receiver: 'team', receiverType: 'group', tag: '123456', type: 'chat' },
}

/** A request as Apple gets it, with nothing around it. */
export function bare(session: ClientHttp2Session, payload: object = APNS_PAYLOAD): Promise<void> {
  const stream = session.request({
    ...{ ':method': 'POST', ':path': `/3/device/${'ab'.repeat(32)}`, 'apns-topic': 'org.example' },
    ...{ 'apns-push-type': 'alert', 'apns-priority': '10', authorization: `bearer ${TOKEN}` },
  })
  stream.resume()
  stream.end(JSON.stringify(payload))
  return new Promise((resolve, reject) => {
    stream.once('error', reject)
    stream.once('close', resolve)
  })
}

/** As long as a real one. */
const TOKEN = randomBytes(120).toString('base64url')

function waysOf(pushes: Push, url: string): Record<'apns' | 'fcm' | 'browsers', Send> {
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const p8Key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem)
  const [vapid, browser] = [createECDH('prime256v1'), createECDH('prime256v1')]
  const keys = {
    p256dh: browser.generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  }
  const way =
    (credentials: PushCredentials, device: string, payload: Notification['payload']) =>
    async () => {
      const expiresAt = Date.now() + 86_400_000
      const more = { expiresAt, priority: 'high', kind: 'alert', collapseId: '123456' } as const
      const outcome = await pushes.push(credentials, device, { payload, ...more })
      if (outcome.outcome !== 'delivered') throw new Error(JSON.stringify(outcome))
    }
  const { aps, ...data } = APNS_PAYLOAD
  const notification = { title: aps.alert.title, body: aps.alert.body }
  return {
    apns: way(
      {
        ...{ provider: 'apns', teamId: 'TEAM', keyId: 'KEY', bundleId: 'org.example' },
        ...{ production: true, p8Key: String(p8Key) },
      },
      'ab'.repeat(32),
      APNS_PAYLOAD,
    ),
    fcm: way(
      {
        ...{ provider: 'fcm', projectId: 'example', clientEmail: 'push@example.org' },
        ...{ privateKeyId: 'key', privateKey: String(rsa) },
      },
      randomBytes(100).toString('base64url'),
      { notification, data },
    ),
    browsers: way(
      {
        ...{ provider: 'web_push', subject: 'mailto:push@example.org' },
        publicKey: vapid.generateKeys('base64url'),
        privateKey: vapid.getPrivateKey('base64url'),
      },
      JSON.stringify({ endpoint: `${url}/browser`, keys }),
      { ...notification, ...data },
    ),
  }
}

/** Takes the ways in turns, so that a slow minute slows all of them. The first round only warms up. */
async function measure<W extends string>(
  ways: Record<W, Send>,
  report: Report,
): Promise<Record<W, Rate>> {
  const names = Object.keys(ways) as W[]
  const rates = Object.fromEntries(names.map((name) => [name, [] as Rate[]])) as Record<W, Rate[]>
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of names) {
      const rate = await rateOf(ways[name])
      if (round > 0) rates[name].push(rate)
    }
    const newest = names.map((name) => `${name} ${Math.round(rates[name].at(-1) ?? 0)}`)
    report(`round ${round} of ${ROUNDS}: ${newest.join(', ')}`)
  }
  return Object.fromEntries(names.map((name) => [name, median(rates[name])])) as Record<W, Rate>
}

async function rateOf(send: Send): Promise<Rate> {
  const before = process.cpuUsage()
  let left = DELIVERIES
  const sender = async () => {
    while (left-- > 0) await send()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender))
  const { user, system } = process.cpuUsage(before)
  return DELIVERIES / ((user + system) / 1e6)
}
