import type { management } from '@loquat/sdk'

export type Role = management.App['role']

export const ROLE_NAMES: Record<Role, string> = {
  owner: 'Owner',
  admin: 'Admin',
  developer: 'Developer',
  moderator: 'Moderator',
}
