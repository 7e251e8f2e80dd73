import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret in use. */
export function signatureOf(
  secrets: string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
      const hash = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
      return `v1,${hash}`
    })
    .join(' ')
}
