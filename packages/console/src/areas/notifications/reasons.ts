/** Why somebody was not notified, in words. */
export const REASONS: Record<string, string> = {
  MESSAGES_PREFERENCE: 'Notifications of such messages are off.',
  REPLIES_PREFERENCE: 'Notifications of replies are off.',
  MESSAGE_ACTIONS_PREFERENCE: 'Notifications of edits and deletions are off.',
  REACTIONS_PREFERENCE: 'Notifications of such reactions are off.',
  GROUP_ACTIONS_PREFERENCE: 'Notifications of changes of members are off.',
  DND_PREFERENCE: 'The user is in do not disturb.',
  MUTE_PREFERENCE: 'The user has muted the conversation.',
  SCHEDULE_PREFERENCE: 'It was outside the user’s hours.',
  CALL_PREFERENCE: 'Notifications of calls are off.',
  QUOTA_PREFERENCE: 'The user has got as many today as the app allows.',
  MISSING_EMAIL: 'The user has no email address.',
  MISSING_PHNO: 'The user has no phone number.',
  INVALID_PUSH_PROVIDER_ID: 'The provider that the device names is gone or off.',
  TIMED_OUT: 'The provider gave no answer in time.',
  NOT_FOUND: 'The device is gone.',
  TWILIO_CREATE_ERROR: 'The provider refused the message.',
  OWN_ACTION: 'The user did it.',
  NO_ACCESS: 'The user can’t see it: not a member, banned, or hidden by a rule.',
  MODERATION: 'Moderation held the message.',
  BLOCKED_SENDER: 'One of the two has blocked the other.',
  ALREADY_READ: 'The user had read it.',
  NO_PUSH_TOKEN: 'The user has no device that receives push.',
  NO_PROVIDER: 'The app has no provider for it.',
  SUPPRESSED_ADDRESS: 'The address bounced, or its owner wants no more.',
}

export const wordsFor = (reason: string) => REASONS[reason] ?? reason

export const CHANNELS: Record<string, string> = { push: 'Push', email: 'Email', sms: 'SMS' }

/** What people call the services that carry notifications. */
const PROVIDERS: Record<string, string> = {
  fcm: 'Firebase',
  apns: 'Apple',
  web_push: 'Web Push',
  custom: 'Own server',
  sendgrid: 'SendGrid',
  smtp: 'SMTP',
  twilio: 'Twilio',
}

export const providerName = (provider: string) => PROVIDERS[provider] ?? provider
