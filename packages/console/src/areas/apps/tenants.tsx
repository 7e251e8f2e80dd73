import type { management } from '@loquat/sdk'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { type ColumnOf, DataTable } from '../../shared/data-table.tsx'
import { Empty } from '../../shared/empty.tsx'
import { hrefTo } from '../../shared/links.ts'
import { manage } from '../../shared/manage.ts'
import { Page } from '../../shared/page.tsx'
import { useRecords } from '../../shared/records.ts'
import { SearchField } from '../../shared/search-field.tsx'

type Tenant = management.Tenant
type Count = 'activeUsers' | 'messagesSent' | 'apiCalls' | 'apiErrors' | 'users'

const route = getRouteApi('/usage')

/** Nothing if the app's cell didn't answer, or if the app is deleted. */
const count = (name: string, of: Count, wide = true): ColumnOf<Tenant> => ({
  ...{ name, wide, end: true, width: 130 },
  cell: ({ usage }) => usage?.[of].toLocaleString('en') ?? '–',
})

const COLUMNS: ColumnOf<Tenant>[] = [
  {
    name: 'App',
    width: '3fr',
    cell: ({ id, name }) => <NamedAvatar square id={id} name={name} />,
  },
  { name: 'Region', cell: ({ region }) => region.toUpperCase(), wide: true, width: 90 },
  count('Active users', 'activeUsers', false),
  count('Users', 'users'),
  count('Messages', 'messagesSent'),
  count('API requests', 'apiCalls'),
  count('Failed', 'apiErrors'),
]

/** All apps of the operator side by side, with what they used this month. */
export function Tenants() {
  const { searchKey = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const router = useRouter()
  const tenants = useRecords(['apps', 'usage', { searchKey }], (page) =>
    manage.tenants.list({ perPage: 30, ...(searchKey && { searchKey }), ...page }),
  )
  return (
    <Page
      title="Usage"
      description="What each of your apps has used since the first day of this month (UTC)."
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
      <DataTable
        label="Apps"
        list={tenants}
        columns={COLUMNS}
        id={({ id }) => id}
        text={({ name }) => name}
        href={({ id: appId }) => hrefTo(router, { to: '/apps/$appId/usage', params: { appId } })}
        empty={
          <Empty title={searchKey ? 'No matching apps' : 'No apps yet'}>
            {searchKey
              ? 'Search for part of the name, or for the whole app ID.'
              : 'Create your first app on the page Apps. What it uses appears here.'}
          </Empty>
        }
      />
    </Page>
  )
}
