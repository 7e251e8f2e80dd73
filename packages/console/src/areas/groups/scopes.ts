export const SCOPES = {
  participant: 'Participant',
  moderator: 'Moderator',
  admin: 'Admin',
} as const
export type Scope = keyof typeof SCOPES
