/** The push transport with the addresses of test servers. */
import { openMetrics } from '../../src/platform/metrics/metrics.ts'
import { Targets } from '../../src/platform/net/targets.ts'
import { PUSH_LIMITS, type PushLimits } from '../../src/platform/push/limits.ts'
import { Push, type PushAddresses, type PushOptions } from '../../src/platform/push/push.ts'

/** So long that no slow machine reaches it. */
export const PATIENT: PushLimits = { ...PUSH_LIMITS, timeoutMs: 600_000, customTimeoutMs: 600_000 }

/** Nothing listens there. */
const NOWHERE = 'https://127.0.0.1:1'

export const openPush = (
  addresses: Partial<PushAddresses>,
  options: Partial<PushOptions> = {},
): Push =>
  new Push({
    addresses: {
      ...{ apnsUrl: NOWHERE, apnsSandboxUrl: NOWHERE, fcmUrl: NOWHERE, googleTokenUrl: NOWHERE },
      ...addresses,
    },
    targets: new Targets({ privateTargets: true, nameServers: [] }),
    metrics: openMetrics(),
    limits: PATIENT,
    ...options,
  })
