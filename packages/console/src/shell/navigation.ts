import type { management } from '@loquat/sdk'
import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../shared/icons.tsx'

type Role = management.App['role']

export interface NavItem {
  name: string
  icon: IconName
  to: NonNullable<LinkProps['to']>
  /** Who has it; everyone unless given. */
  roles?: Role[]
}

const CREDENTIALS: Role[] = ['owner', 'admin', 'developer']
const HEADS: Role[] = ['owner', 'admin']

/** The pages of an app, as the sidebar lists them. A page that is no part of it (the detail of a user) has only its route. */
export const NAVIGATION: { name: string; items: NavItem[] }[] = [
  {
    name: 'Overview',
    items: [
      { name: 'Home', icon: 'home', to: '/apps/$appId' },
      { name: 'Usage', icon: 'chart', to: '/apps/$appId/usage' },
    ],
  },
  {
    name: 'Data',
    items: [
      { name: 'Users', icon: 'user', to: '/apps/$appId/users' },
      { name: 'Groups', icon: 'group', to: '/apps/$appId/groups' },
      { name: 'Conversations', icon: 'chat', to: '/apps/$appId/conversations' },
    ],
  },
  {
    name: 'Develop',
    items: [
      { name: 'API keys', icon: 'key', to: '/apps/$appId/keys', roles: CREDENTIALS },
      { name: 'Webhooks', icon: 'webhook', to: '/apps/$appId/webhooks', roles: CREDENTIALS },
    ],
  },
  {
    name: 'Manage',
    items: [
      { name: 'Team', icon: 'team', to: '/apps/$appId/team' },
      { name: 'Audit', icon: 'audit', to: '/apps/$appId/audit', roles: HEADS },
      { name: 'Settings', icon: 'settings', to: '/apps/$appId/settings', roles: HEADS },
    ],
  },
]
