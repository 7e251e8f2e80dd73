/** Who is notified of what: providers, the app's preferences, texts, and the log. */
import { getRouteApi } from '@tanstack/react-router'
import { useApp } from '../../shared/manage.ts'
import { Page } from '../../shared/page.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { EmailDesign } from './email-design.tsx'
import { NotificationLogs } from './log.tsx'
import { Preferences } from './preferences.tsx'
import { NotificationProviders } from './providers.tsx'
import { Suppressions } from './suppressions.tsx'
import { Templates } from './templates.tsx'
import './notifications.css'

const route = getRouteApi('/apps/$appId/notifications')

export function Notifications() {
  const { role } = useApp()
  const isDeveloper = role === 'owner' || role === 'admin' || role === 'developer'
  const { tab = isDeveloper ? 'providers' : 'preferences' } = route.useSearch()
  const navigate = route.useNavigate()
  const providers = { id: 'providers', name: 'Providers', content: <NotificationProviders /> }
  return (
    <Page
      title="Notifications"
      description="What users hear of while the chat is closed, over which services, and with which texts."
    >
      <Tabs
        label="Notifications"
        open={tab}
        onOpen={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={[
          ...(isDeveloper ? [providers] : []),
          { id: 'preferences', name: 'Preferences', content: <Preferences /> },
          { id: 'templates', name: 'Templates', content: <Templates /> },
          { id: 'email-design', name: 'Email design', content: <EmailDesign /> },
          { id: 'suppressions', name: 'Suppressed', content: <Suppressions /> },
          { id: 'log', name: 'Log', content: <NotificationLogs /> },
        ]}
      />
    </Page>
  )
}
