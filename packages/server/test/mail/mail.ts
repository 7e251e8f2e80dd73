/** The mail transport with test servers. */

import { MAIL_LIMITS, type MailLimits } from '../../src/platform/mail/limits.ts'
import { Mail, type MailOptions } from '../../src/platform/mail/mail.ts'
import { openMetrics } from '../../src/platform/metrics/metrics.ts'
import { Outbound } from '../../src/platform/net/outbound.ts'
import { Targets } from '../../src/platform/net/targets.ts'

/** So long that no slow machine reaches it. */
export const PATIENT: MailLimits = {
  ...MAIL_LIMITS,
  ...{ connectMs: 600_000, silenceMs: 600_000, timeoutMs: 600_000 },
}

export function openMail(options: Partial<MailOptions> = {}): Mail {
  const targets = options.targets ?? new Targets({ privateTargets: true, nameServers: [] })
  return new Mail({
    ...{ sendgridUrl: 'http://127.0.0.1:1', outbound: new Outbound(targets) },
    ...{ metrics: openMetrics(), limits: PATIENT },
    ...options,
    targets,
  })
}
