import type { ListUsersQuery, User } from '@loquat/sdk'
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
import { Tags } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { USER_FILTERS } from './filters.ts'
import { UserForm } from './form.tsx'
import { UserStatus } from './status.tsx'

const route = getRouteApi('/apps/$appId/users')

const COLUMNS: ColumnOf<User>[] = [
  {
    name: 'User',
    width: '3fr',
    cell: ({ uid, name, avatar }) => <NamedAvatar id={uid} name={name} url={avatar} />,
  },
  { name: 'Status', cell: (user) => <UserStatus user={user} />, width: 130, narrow: 110 },
  { name: 'Role', cell: ({ role }) => <span className="clip">{role}</span>, wide: true },
  { name: 'Tags', cell: ({ tags }) => <Tags tags={tags} />, wide: true, width: '2fr' },
  { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, wide: true, width: 140 },
]

export function Users() {
  const { appId } = route.useParams()
  const search: Search = route.useSearch()
  const navigate = route.useNavigate()
  const router = useRouter()
  const curl = useCurl()
  const change = (changes: Search) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  const query = { ...queryOf(USER_FILTERS, search), searchKey: search.searchKey } as ListUsersQuery
  const users = useRecords(appKey(appId, 'users', 'list', search), (page) =>
    manage.app(appId).users.list({ perPage: 50, withTags: true, ...query, ...page }),
  )
  const filtered = Object.values(search).some(Boolean)
  return (
    <Page
      title="Users"
      description={
        users.total === undefined || filtered
          ? 'The people who can chat in this app.'
          : `${users.total.toLocaleString('en')} ${users.total === 1 ? 'user' : 'users'} in this app.`
      }
      actions={
        <Dialog
          title="Create user"
          trigger={
            <Button look="main" icon="plus">
              Create user
            </Button>
          }
        >
          {(close) => <UserForm onDone={close} />}
        </Dialog>
      }
    >
      <div className="toolbar">
        <SearchField
          label="Search by name or UID"
          value={search.searchKey ?? ''}
          onChange={(searchKey) => change({ searchKey: searchKey || undefined })}
        />
        <FilterBar filters={USER_FILTERS} search={search} onChange={change} />
      </div>
      <DataTable
        label="Users"
        list={users}
        columns={COLUMNS}
        id={({ uid }) => uid}
        text={({ name }) => name}
        href={({ uid }) =>
          hrefTo(router, { to: '/apps/$appId/users/$uid', params: { appId, uid } })
        }
        empty={
          filtered ? (
            <Empty title="No matching users">
              Search for part of the name or the start of the UID, or remove a filter.
            </Empty>
          ) : (
            <Empty title="No users yet" curl={curl('/users', { uid: 'amira', name: 'Amira' })}>
              Your server creates a user when someone signs up. Create your first user with the
              button above, or with this command.
            </Empty>
          )
        }
      />
    </Page>
  )
}
