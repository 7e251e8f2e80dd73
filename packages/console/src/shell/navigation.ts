import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../shared/icons.tsx'
import type { Role } from '../shared/roles.ts'

export interface NavItem {
  name: string
  icon: IconName
  to: NonNullable<LinkProps['to']>
  /** The roles that see this page. Defaults to all roles. */
  roles?: Role[]
  /** Whether it shows how many conversations wait for a person. */
  counts?: boolean
}

const DEVELOPERS: Role[] = ['owner', 'admin', 'developer']
const ADMINS: Role[] = ['owner', 'admin']
const MODERATORS: Role[] = ['owner', 'admin', 'moderator']

/** The app pages in the sidebar. Pages that aren't listed, such as the one of a user, have only a route. */
export const NAVIGATION: { name: string; items: NavItem[] }[] = [
  {
    name: 'Overview',
    items: [
      { name: 'Home', icon: 'home', to: '/apps/$appId' },
      { name: 'Usage', icon: 'chart', to: '/apps/$appId/usage' },
      { name: 'Storage', icon: 'file', to: '/apps/$appId/storage' },
    ],
  },
  {
    name: 'Data',
    items: [
      { name: 'Users', icon: 'user', to: '/apps/$appId/users' },
      { name: 'Groups', icon: 'group', to: '/apps/$appId/groups' },
      { name: 'Roles', icon: 'shield', to: '/apps/$appId/roles' },
      { name: 'Conversations', icon: 'chat', to: '/apps/$appId/conversations' },
      { name: 'Calls', icon: 'phone', to: '/apps/$appId/calls' },
      { name: 'Agents', icon: 'spark', to: '/apps/$appId/agents' },
      { name: 'Inbox', icon: 'inbox', to: '/apps/$appId/inbox', counts: true },
      { name: 'Notifications', icon: 'bell', to: '/apps/$appId/notifications' },
      { name: 'Review', icon: 'check', to: '/apps/$appId/review', roles: MODERATORS },
      { name: 'Moderation', icon: 'filter', to: '/apps/$appId/moderation', roles: MODERATORS },
    ],
  },
  {
    name: 'Developers',
    items: [
      { name: 'API keys', icon: 'key', to: '/apps/$appId/keys', roles: DEVELOPERS },
      { name: 'Webhooks', icon: 'webhook', to: '/apps/$appId/webhooks', roles: DEVELOPERS },
      {
        name: 'Message checks',
        icon: 'checkedShield',
        to: '/apps/$appId/checks',
        roles: DEVELOPERS,
      },
    ],
  },
  {
    name: 'Manage',
    items: [
      { name: 'Team', icon: 'team', to: '/apps/$appId/team' },
      {
        name: 'Import and export',
        icon: 'transfer',
        to: '/apps/$appId/transfer',
        roles: DEVELOPERS,
      },
      { name: 'Jobs', icon: 'jobs', to: '/apps/$appId/jobs', roles: ADMINS },
      { name: 'Audit log', icon: 'audit', to: '/apps/$appId/audit', roles: ADMINS },
      { name: 'Settings', icon: 'settings', to: '/apps/$appId/settings', roles: ADMINS },
    ],
  },
]
