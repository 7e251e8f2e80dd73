import type { Group, ListGroupsQuery } from '@loquat/sdk'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { useCurl } from '../../shared/curl.ts'
import { type ColumnOf, DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { hrefTo } from '../../shared/links.ts'
import { appKey, manage } from '../../shared/manage.ts'
import { Page } from '../../shared/page.tsx'
import { useRecords } from '../../shared/records.ts'
import { queryOf, type Search } from '../../shared/search.ts'
import { SearchField } from '../../shared/search-field.tsx'
import { Status, Tags } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { GROUP_FILTERS, GROUP_TYPES } from './filters.ts'
import { GroupForm } from './form.tsx'

const route = getRouteApi('/apps/$appId/groups')

const COLUMNS: ColumnOf<Group>[] = [
  {
    name: 'Group',
    width: '3fr',
    cell: ({ guid, name, icon }) => <NamedAvatar square id={guid} name={name} url={icon} />,
  },
  {
    name: 'Members',
    width: 110,
    end: true,
    cell: ({ membersCount }) => membersCount.toLocaleString('en'),
  },
  {
    name: 'Type',
    wide: true,
    width: 120,
    cell: ({ type }) => <Status>{GROUP_TYPES[type]}</Status>,
  },
  { name: 'Owner', wide: true, cell: ({ owner }) => <code className="clip">{owner}</code> },
  { name: 'Tags', wide: true, width: '2fr', cell: ({ tags }) => <Tags tags={tags} /> },
  { name: 'Created', wide: true, width: 140, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

export function Groups() {
  const { appId } = route.useParams()
  const search: Search = route.useSearch()
  const navigate = route.useNavigate()
  const router = useRouter()
  const curl = useCurl()
  const change = (changes: Search) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  const query = {
    ...queryOf(GROUP_FILTERS, search),
    searchKey: search.searchKey,
  } as ListGroupsQuery
  const groups = useRecords(appKey(appId, 'groups', 'list', search), (page) =>
    manage.app(appId).groups.list({ perPage: 50, withTags: true, ...query, ...page }),
  )
  const filtered = Object.values(search).some(Boolean)
  return (
    <Page
      title="Groups"
      description="Users who chat together in a group conversation."
      actions={
        <Dialog
          title="Create group"
          trigger={
            <Button look="main" icon="plus">
              Create group
            </Button>
          }
        >
          {(close) => <GroupForm onDone={close} />}
        </Dialog>
      }
    >
      <div className="toolbar">
        <SearchField
          label="Search by name or GUID"
          value={search.searchKey ?? ''}
          onChange={(searchKey) => change({ searchKey: searchKey || undefined })}
        />
        <FilterBar filters={GROUP_FILTERS} search={search} onChange={change} />
      </div>
      <DataTable
        label="Groups"
        list={groups}
        columns={COLUMNS}
        id={({ guid }) => guid}
        text={({ name }) => name}
        href={({ guid }) =>
          hrefTo(router, { to: '/apps/$appId/groups/$guid', params: { appId, guid } })
        }
        empty={
          filtered ? (
            <Empty title="No matching groups">
              Search for part of the name or the start of the GUID, or remove a filter.
            </Empty>
          ) : (
            <Empty
              title="No groups yet"
              curl={curl('/groups', { guid: 'team', name: 'The team', type: 'public' })}
            >
              Create your first group with the button above, or with this command.
            </Empty>
          )
        }
      />
    </Page>
  )
}
