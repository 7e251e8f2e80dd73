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

/** The pages of an app, as the sidebar lists them. A page that is no part of it (the detail of a user) has only its route. */
export const NAVIGATION: { name: string; items: NavItem[] }[] = [
  { name: 'Overview', items: [{ name: 'Home', icon: 'home', to: '/apps/$appId' }] },
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
    items: [{ name: 'API keys', icon: 'key', to: '/apps/$appId/keys', roles: CREDENTIALS }],
  },
]
