import type { ErrorDefinition } from './definition.ts'

/** Limits, operators and their apps. */
export const managementErrors = {
  ERR_TOO_MANY_REQUESTS: {
    status: 429,
    retry: true,
    message:
      'You have reached the limit of {limit} requests per minute. Try again after the time given in Retry-After.',
    when: 'The app, user or operator has used all requests of this minute; or a user has tried or set too many group passwords; or this address has sent too many unknown credentials or app ids. `Retry-After` says when to try again.',
  },
  AUTH_ERR_EMPTY_AUTH_HEADER: {
    status: 401,
    retry: false,
    message: 'You are not signed in. Sign in, or send the headers "key" and "secret".',
    when: 'Management: there is no session, and `key` or `secret` is missing or blank.',
  },
  AUTH_ERR_INVALID_CREDENTIALS: {
    status: 401,
    retry: false,
    message: 'Your credentials are wrong or have expired. Sign in again.',
    when: 'Management: the email address, password or code is wrong; the session has ended; the key and secret are unknown; or the account is disabled.',
  },
  AUTH_ERR_TOTP_REQUIRED: {
    status: 401,
    retry: false,
    message: 'Enter the one-time code of this account.',
    when: 'Management: the password is right, but `code` or `recoveryCode` is missing.',
  },
  AUTH_ERR_FOREIGN_PAGE: {
    status: 403,
    retry: false,
    message: 'The request comes from a page on another host, which may not use your session.',
    when: "Management: a page on another host made a write request with the session's cookie.",
  },
  ERR_APP_SUSPENDED: {
    status: 403,
    retry: false,
    message: 'This app is suspended. Contact the operator of the service.',
    when: 'The operator of the installation has suspended the app, until it is resumed. Its data is kept.',
  },
  ERR_TOO_MANY_AT_ONCE: {
    status: 429,
    retry: true,
    message:
      'Too many requests of this app are running or waiting. Try again after the time given in Retry-After.',
    when: 'The app sends requests faster than they are answered. Nothing was changed. `Retry-After` says when to try again; send fewer at the same time, or ask for less in each.',
  },
  ERR_TOO_MANY_ATTEMPTS: {
    status: 429,
    retry: true,
    message: 'Too many attempts. Try again in 15 minutes.',
    when: 'Management: too many wrong passwords, wrong codes or sign-ups for this account or from this address.',
  },
  ERR_SIGN_UP_CLOSED: {
    status: 403,
    retry: false,
    message: 'You need an invitation to sign up here.',
    when: "Management: `LOQUAT_SIGN_UP` doesn't allow this sign-up or invitation.",
  },
  ERR_EMAIL_ALREADY_EXISTS: {
    status: 409,
    retry: false,
    message: 'An account with the email address "{email}" already exists. Sign in instead.',
    when: 'Management: the email address already has an account.',
  },
  ERR_INVITATION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'This invitation is not valid: it was used or has expired. Ask for a new one.',
    when: 'Management: the invitation is unknown, used or expired, or was made for another email address.',
  },
  ERR_WRONG_PASSWORD: {
    status: 403,
    retry: false,
    message: 'The password is wrong.',
    when: 'Management: the change requires your password, and the one given is wrong.',
  },
  ERR_WRONG_CODE: {
    status: 400,
    retry: false,
    message: "The code is wrong. Check that your device's clock is right.",
    when: "Management: the code doesn't match the new secret.",
  },
  ERR_TOTP_ALREADY_ON: {
    status: 409,
    retry: false,
    message: 'Two-factor authentication is already on.',
    when: 'Management: turn two-factor authentication off before you set it up again.',
  },
  ERR_TOTP_OFF: {
    status: 409,
    retry: false,
    message: 'Two-factor authentication is off.',
    when: "Management: the request turns two-factor authentication off or renews its codes, but it isn't on.",
  },
  ERR_SESSION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no such session.',
    when: 'Management: the session is unknown, has ended, or belongs to another account.',
  },
  ERR_KEY_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no such key.',
    when: 'Management: the key is unknown or belongs to another account.',
  },
  ERR_APP_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'You don\'t manage an app "{appId}".',
    when: "Management: the app doesn't exist, or the operator isn't one of its collaborators.",
  },
  ERR_APP_CREATION_FAILED_MAX_LIMIT: {
    status: 403,
    retry: false,
    message: 'You can own at most {limit} apps. Delete one first.',
    when: 'Management: the operator already owns as many apps as `LOQUAT_APPS_PER_OPERATOR` allows.',
  },
  ERR_APP_ARCHIVED: {
    status: 409,
    retry: false,
    message: 'The app "{appId}" is scheduled for deletion. Restore it first.',
    when: 'Management: the app was deleted and can still be restored.',
  },
  ERR_ERASURE_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'No user with the uid "{uid}" was erased.',
    when: 'There is no erasure of this user.',
  },
  ERR_JOB_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'The app has no job "{jobId}".',
    when: 'Management: the job does not exist. Jobs that are done are removed.',
  },
  ERR_JOB_OVER: {
    status: 409,
    retry: false,
    message: 'The job "{jobId}" is already {state}.',
    when: 'Management: a job that is done or dead was cancelled.',
  },
  ERR_JOB_NOT_FAILED: {
    status: 409,
    retry: false,
    message: 'The job "{jobId}" is not dead or cancelled, or another one does the same work.',
    when: 'Management: only dead and cancelled jobs can be retried.',
  },
  ERR_APP_NOT_ARCHIVED: {
    status: 409,
    retry: false,
    message: 'The app "{appId}" is not scheduled for deletion.',
    when: "Management: the app wasn't deleted, or the grace period is over.",
  },
  ERR_ALREADY_AN_OWNER: {
    status: 409,
    retry: false,
    message: '"{email}" owns this app, so their role can\'t be changed.',
    when: "Management: the request changes the role of the app's owner.",
  },
  ERR_SELF_ACTION_DENIED: {
    status: 403,
    retry: false,
    message: "You can't change or remove your own access.",
    when: 'Management: the email address is your own.',
  },
  ERR_NOT_A_COLLABORATOR: {
    status: 404,
    retry: false,
    message: '"{email}" is not on this app\'s team.',
    when: 'Management: the person is neither a collaborator nor invited.',
  },
} as const satisfies Record<string, ErrorDefinition>
