/** AI agents: who they are, what they did, what they may use and what they may spend. */
import { getRouteApi } from '@tanstack/react-router'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { useApp } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { Providers } from '../models/providers.tsx'
import { AgentList } from './agent-list.tsx'
import { Budgets } from './budgets.tsx'
import { CreateAgent } from './create.tsx'
import { ExternalForm } from './external-form.tsx'
import { AppRuns } from './runs.tsx'
import { Toolbox } from './toolbox.tsx'
import { Variables } from './variables.tsx'
import './agents.css'

const route = getRouteApi('/apps/$appId/agents')

export function Agents() {
  const { role } = useApp()
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  // Moderators see what agents were asked, but not how they are built.
  const mayBuild = role !== 'moderator'
  const runs = { id: 'runs', name: 'Runs', content: <AppRuns /> }
  const tabs = mayBuild
    ? [
        { id: 'agents', name: 'Agents', content: <AgentList /> },
        runs,
        { id: 'tools', name: 'Tools', content: <Toolbox /> },
        { id: 'variables', name: 'Variables', content: <Variables /> },
        { id: 'models', name: 'Models', content: <Providers /> },
        { id: 'budgets', name: 'Budgets', content: <Budgets /> },
      ]
    : [runs]
  return (
    <Page
      title="Agents"
      description="Users whose messages a model writes. People talk to them as to anybody else."
      actions={mayBuild && role && <Create />}
    >
      {role ? (
        <Tabs
          label="Agents"
          tabs={tabs}
          open={tabs.find(({ id }) => id === tab)?.id ?? tabs[0]?.id ?? 'runs'}
          onOpen={(id) => void navigate({ search: { tab: id }, replace: true })}
        />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

const Create = () => (
  <>
    <Dialog wide title="Connect an agent" trigger={<Button>Connect external agent</Button>}>
      {(close) => <ExternalForm onDone={close} />}
    </Dialog>
    <Dialog
      wide
      title="Create agent"
      trigger={
        <Button look="main" icon="plus">
          Create agent
        </Button>
      }
    >
      <CreateAgent />
    </Dialog>
  </>
)
