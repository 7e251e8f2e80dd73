/** Reports of mail servers about emails that they couldn't deliver (RFC 3464). */
import { oneLine } from './email.ts'
import type { ParsedEmail } from './mime.ts'

/** Enhanced status codes (RFC 3463) that say that an address doesn't exist or is closed for good. */
export const NO_ADDRESS = /\b5\.(1\.[1236]|1\.10|2\.1)\b/

const REPORT_BYTES = 65_536

export interface Bounce {
  /** In lower case. */
  address: string
  reason: string
}

/** The addresses that don't exist by a report. Undefined if the email is none. */
export function bouncesOf({ header, attachments }: ParsedEmail): Bounce[] | undefined {
  if (!/^multipart\/report\b.*\breport-type="?delivery-status\b/i.test(header('content-type')))
    return undefined
  const report = attachments.find(({ type }) => type === 'message/delivery-status')
  const text = report?.content.subarray(0, REPORT_BYTES).toString('latin1') ?? ''
  // A block about the report, then one for each receiver.
  return text.split(/\r?\n[ \t]*\r?\n/).flatMap((block) => {
    const fields = block.replace(/\r?\n[ \t]+/g, ' ')
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(fields)?.[1]?.trim() ?? ''
    if (field('action').toLowerCase() !== 'failed' || !NO_ADDRESS.test(field('status'))) return []
    const address = addressIn(field('final-recipient'))
    const reason = oneLine(field('diagnostic-code') || field('status')).slice(0, 300)
    return address ? [{ address: address.toLowerCase(), reason }] : []
  })
}

/** The address in `rfc822; <ana@example.org>`, or an empty text. A pattern would take quadratic time for many semicolons. */
export function addressIn(recipient: string): string {
  const at = recipient.indexOf(';')
  const address = recipient
    .slice(at + 1)
    .trim()
    .replace(/^<|>$/g, '')
  return at === -1 || /[<>\s]/.test(address) ? '' : address
}
