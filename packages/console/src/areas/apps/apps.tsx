import type { management } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Avatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { appKey, manage } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { useRecords } from '../../shared/records.ts'
import { ROLE_NAMES } from '../../shared/roles.ts'
import { SearchField } from '../../shared/search-field.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { CreateApp } from './create.tsx'
import './apps.css'

const route = getRouteApi('/')

export function Apps() {
  const { searchKey = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const apps = useRecords(['apps', 'all', { searchKey }], (page) =>
    manage.apps.list({ perPage: 30, ...(searchKey && { searchKey }), ...page }),
  )
  const create = (
    <Dialog
      title="Create app"
      trigger={
        <Button look="main" icon="plus">
          Create app
        </Button>
      }
    >
      <CreateApp />
    </Dialog>
  )
  return (
    <Page
      title="Apps"
      description="Each app has its own users, groups, messages, and API keys."
      actions={create}
    >
      <div className="toolbar">
        <SearchField
          label="Search apps"
          value={searchKey}
          onChange={(text) =>
            void navigate({ search: text ? { searchKey: text } : {}, replace: true })
          }
        />
      </div>
      {apps.isPending && <Skeleton lines={3} />}
      <Problem error={apps.error} retry={apps.retry} />
      {!apps.isPending && apps.rows.length === 0 && !apps.error && (
        <Empty title={searchKey ? 'No matching apps' : 'No apps yet'}>
          {searchKey
            ? 'Search for part of the name, or for the whole app ID.'
            : 'Create your first app. It comes with two API keys, and you can call it right away.'}
        </Empty>
      )}
      <ul className="app-cards">
        {apps.rows.map((app) => (
          <AppCard key={app.id} app={app} />
        ))}
      </ul>
      {apps.more && (
        <div className="toolbar">
          <Button onPress={apps.loadMore}>Load more</Button>
        </div>
      )}
    </Page>
  )
}

function AppCard({ app }: { app: management.App }) {
  const active = app.state === 'active'
  const users = useQuery({
    queryKey: appKey(app.id, 'users', 'total'),
    queryFn: async () =>
      (await manage.app(app.id).users.list({ perPage: 1 })).meta.pagination.total,
    enabled: active,
    staleTime: 60_000,
  })
  return (
    <li className="panel app-card">
      <div className="named-avatar">
        <Avatar square id={app.id} name={app.name} />
        <span>
          <Link to="/apps/$appId" params={{ appId: app.id }} className="clip" dir="auto">
            {app.name}
          </Link>
          <small className="clip">{app.id}</small>
        </span>
      </div>
      <div className="row">
        {active ? <Status tone="good">Active</Status> : <Status tone="bad">Deleted</Status>}
        <Status>{app.region.toUpperCase()}</Status>
        <Status>{ROLE_NAMES[app.role]}</Status>
      </div>
      <p className="soft">
        {users.data !== undefined &&
          `${users.data.toLocaleString('en')} ${users.data === 1 ? 'user' : 'users'} · `}
        created <Time at={app.createdAt} />
      </p>
    </li>
  )
}
