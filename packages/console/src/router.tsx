/** All pages and their paths. The code of a page loads when it is opened. */
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { RUN_FILTERS } from './areas/agents/filters.ts'
import { CALL_FILTERS } from './areas/calls/filters.ts'
import { CONVERSATION_FILTERS } from './areas/conversations/filters.ts'
import { GROUP_FILTERS } from './areas/groups/filters.ts'
import { LOG_FILTERS } from './areas/notifications/filters.ts'
import { REVIEW_FILTERS } from './areas/review/filters.ts'
import { USER_FILTERS } from './areas/users/filters.ts'
import { Page, Skeleton } from './shared/page.tsx'
import { Problem } from './shared/problem.tsx'
import { namesOf, textsOf } from './shared/search.ts'
import { Frame } from './shell/frame.tsx'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The name of the page in the breadcrumbs. */
    crumb?: string | ((params: Record<string, string>) => string)
  }
}

const root = createRootRoute({ component: Frame })
const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: textsOf('searchKey'),
  component: lazyRouteComponent(() => import('./areas/apps/apps.tsx'), 'Apps'),
})
const tenants = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  staticData: { crumb: 'Usage' },
  validateSearch: textsOf('searchKey'),
  component: lazyRouteComponent(() => import('./areas/apps/tenants.tsx'), 'Tenants'),
})
const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  staticData: { crumb: 'Account' },
  component: lazyRouteComponent(() => import('./areas/account/account.tsx'), 'Account'),
})
/** For signed-out operators, `SignedOut` shows the sign-up form instead. Signed-in operators accept the invitation. */
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: textsOf('email', 'invitation'),
  component: lazyRouteComponent(() => import('./areas/session/accept.tsx'), 'Accept'),
})
const app = createRoute({ getParentRoute: () => root, path: '/apps/$appId' })

const appPages = [
  createRoute({
    getParentRoute: () => app,
    path: '/',
    component: lazyRouteComponent(() => import('./areas/apps/home.tsx'), 'AppHome'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/keys',
    staticData: { crumb: 'API keys' },
    component: lazyRouteComponent(() => import('./areas/apikeys/keys.tsx'), 'Keys'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/users',
    staticData: { crumb: 'Users' },
    validateSearch: textsOf('searchKey', ...namesOf(USER_FILTERS)),
    component: lazyRouteComponent(() => import('./areas/users/users.tsx'), 'Users'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/users/$uid',
    staticData: { crumb: ({ uid = '' }) => uid },
    validateSearch: textsOf('tab'),
    component: lazyRouteComponent(() => import('./areas/users/user.tsx'), 'UserPage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/groups',
    staticData: { crumb: 'Groups' },
    validateSearch: textsOf('searchKey', ...namesOf(GROUP_FILTERS)),
    component: lazyRouteComponent(() => import('./areas/groups/groups.tsx'), 'Groups'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/groups/$guid',
    staticData: { crumb: ({ guid = '' }) => guid },
    validateSearch: textsOf('tab'),
    component: lazyRouteComponent(() => import('./areas/groups/group.tsx'), 'GroupPage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/roles',
    staticData: { crumb: 'Roles' },
    component: lazyRouteComponent(() => import('./areas/roles/roles.tsx'), 'Roles'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/roles/$role',
    staticData: { crumb: ({ role = '' }) => role },
    validateSearch: textsOf('tab'),
    component: lazyRouteComponent(() => import('./areas/roles/role.tsx'), 'RolePage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/conversations',
    staticData: { crumb: 'Conversations' },
    validateSearch: textsOf('searchKey', 'open', 'thread', ...namesOf(CONVERSATION_FILTERS)),
    component: lazyRouteComponent(() => import('./areas/conversations/explorer.tsx'), 'Explorer'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/calls',
    staticData: { crumb: 'Calls' },
    validateSearch: textsOf(...namesOf(CALL_FILTERS)),
    component: lazyRouteComponent(() => import('./areas/calls/calls.tsx'), 'Calls'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/calls/$sessionId',
    staticData: { crumb: 'Call' },
    component: lazyRouteComponent(() => import('./areas/calls/call.tsx'), 'CallPage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/agents',
    staticData: { crumb: 'Agents' },
    validateSearch: textsOf('tab', ...namesOf(RUN_FILTERS)),
    component: lazyRouteComponent(() => import('./areas/agents/agents.tsx'), 'Agents'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/agents/$uid',
    staticData: { crumb: 'Agent' },
    validateSearch: textsOf('tab'),
    component: lazyRouteComponent(() => import('./areas/agents/agent.tsx'), 'AgentPage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/agents/runs/$runId',
    staticData: { crumb: 'Run' },
    component: lazyRouteComponent(() => import('./areas/agents/run.tsx'), 'RunPage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/inbox',
    staticData: { crumb: 'Inbox' },
    validateSearch: textsOf('tab', 'open'),
    component: lazyRouteComponent(() => import('./areas/inbox/inbox.tsx'), 'Inbox'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/review',
    staticData: { crumb: 'Review' },
    validateSearch: textsOf(...namesOf(REVIEW_FILTERS)),
    component: lazyRouteComponent(() => import('./areas/review/review.tsx'), 'Review'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/moderation',
    staticData: { crumb: 'Moderation' },
    validateSearch: textsOf('tab'),
    component: lazyRouteComponent(() => import('./areas/moderation/moderation.tsx'), 'Moderation'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/checks',
    staticData: { crumb: 'Message checks' },
    component: lazyRouteComponent(() => import('./areas/moderation/checks.tsx'), 'Checks'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/notifications',
    staticData: { crumb: 'Notifications' },
    validateSearch: textsOf('tab', ...namesOf(LOG_FILTERS)),
    component: lazyRouteComponent(
      () => import('./areas/notifications/notifications.tsx'),
      'Notifications',
    ),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/webhooks',
    staticData: { crumb: 'Webhooks' },
    component: lazyRouteComponent(() => import('./areas/webhooks/webhooks.tsx'), 'Webhooks'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/webhooks/$webhookId',
    staticData: { crumb: 'Webhook' },
    validateSearch: textsOf('tab', 'failed', 'type'),
    component: lazyRouteComponent(() => import('./areas/webhooks/webhook.tsx'), 'Webhook'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/usage',
    staticData: { crumb: 'Usage' },
    validateSearch: textsOf('days'),
    component: lazyRouteComponent(() => import('./areas/usage/usage.tsx'), 'Usage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/storage',
    staticData: { crumb: 'Storage' },
    component: lazyRouteComponent(() => import('./areas/storage/storage.tsx'), 'Storage'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/team',
    staticData: { crumb: 'Team' },
    component: lazyRouteComponent(() => import('./areas/team/team.tsx'), 'Team'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/audit',
    staticData: { crumb: 'Audit log' },
    validateSearch: textsOf('action', 'operator', 'from', 'to'),
    component: lazyRouteComponent(() => import('./areas/audit/audit.tsx'), 'Audit'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/transfer',
    staticData: { crumb: 'Import and export' },
    component: lazyRouteComponent(() => import('./areas/transfer/transfer.tsx'), 'Transfer'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/jobs',
    staticData: { crumb: 'Jobs' },
    validateSearch: textsOf('state', 'name'),
    component: lazyRouteComponent(() => import('./areas/jobs/jobs.tsx'), 'Jobs'),
  }),
  createRoute({
    getParentRoute: () => app,
    path: '/settings',
    staticData: { crumb: 'Settings' },
    component: lazyRouteComponent(() => import('./areas/settings/settings.tsx'), 'Settings'),
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren([home, tenants, account, signUp, app.addChildren(appPages)]),
  // The console is a single document that can be served below any path, so pages live in the hash.
  history: createHashHistory(),
  scrollRestoration: true,
  defaultPendingComponent: () => (
    <div className="page">
      <Skeleton />
    </div>
  ),
  defaultErrorComponent: ({ error, reset }) => (
    <Page title="Something went wrong">
      <Problem error={error} retry={reset} />
    </Page>
  ),
  defaultNotFoundComponent: () => (
    <Page title="Page not found" description="This page doesn't exist or has moved.">
      <a href="#/">Go to your apps</a>
    </Page>
  ),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
