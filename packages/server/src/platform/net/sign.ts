import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** The `webhook-signature` header of Standard Webhooks, with one signature for each valid secret. */
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
