/** An email, and who sends it. */

export interface Mailbox {
  address: string
  name?: string
}

export interface Email {
  /** Without angle brackets. A repetition has the same one, so that receivers can show it once. */
  messageId: string
  from: Mailbox
  to: Mailbox
  replyTo?: Mailbox
  /** Where mail servers report that they can't deliver it. Default: to the sender. */
  bounceTo?: string
  subject: string
  text: string
  html: string
  /** Such as `List-Id`. */
  headers: Record<string, string>
  /** What a template that the provider stores is filled with. */
  data?: Record<string, unknown>
}

/** A server with the SMTP protocol. */
export interface SmtpCredentials {
  provider: 'smtp'
  host: string
  port: number
  /** Whether TLS begins with the connection. Otherwise STARTTLS is required. */
  implicitTls: boolean
  login?: { username: string; password: string }
  /** Signs emails, so that others know that the domain sent them. */
  dkim?: { domain: string; selector: string; privateKey: string }
}

export interface SendgridCredentials {
  provider: 'sendgrid'
  apiKey: string
  /** Of a template that SendGrid stores. */
  templateId?: string
  /** Group for unsubscribing. */
  groupId?: number
}

export type MailCredentials = SmtpCredentials | SendgridCredentials

/** Header values must not begin a new header. */
export const oneLine = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must go
  text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ').trim()
