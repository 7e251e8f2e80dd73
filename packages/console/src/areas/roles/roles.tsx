import type { Role } from '@loquat/sdk'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { useCurl } from '../../shared/curl.ts'
import { type ColumnOf, DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { hrefTo } from '../../shared/links.ts'
import { appKey, manage } from '../../shared/manage.ts'
import { Page } from '../../shared/page.tsx'
import { useRecords } from '../../shared/records.ts'
import { Time } from '../../shared/time.tsx'
import { Explain } from './explain.tsx'
import { RoleForm } from './form.tsx'

const route = getRouteApi('/apps/$appId/roles')

const COLUMNS: ColumnOf<Role>[] = [
  {
    name: 'Role',
    width: '2fr',
    cell: ({ role, name }) => <NamedAvatar square id={role} name={name} />,
  },
  {
    name: 'Description',
    width: '3fr',
    wide: true,
    cell: ({ description }) => (
      <span className="clip" dir="auto">
        {description}
      </span>
    ),
  },
  { name: 'Created', width: 140, wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

export function Roles() {
  const { appId } = route.useParams()
  const router = useRouter()
  const curl = useCurl()
  const roles = useRecords(appKey(appId, 'roles', 'list'), (page) =>
    manage.app(appId).roles.list({ perPage: 50, ...page }),
  )
  return (
    <Page
      title="Roles"
      description="Every user has one role. Its permissions say what the user may do in this app."
      actions={
        <>
          <Explain trigger={<Button>Why can't a user…?</Button>} />
          <Dialog
            title="Create role"
            trigger={
              <Button look="main" icon="plus">
                Create role
              </Button>
            }
          >
            {(close) => <RoleForm onDone={close} />}
          </Dialog>
        </>
      }
    >
      <DataTable
        label="Roles"
        list={roles}
        columns={COLUMNS}
        id={({ role }) => role}
        text={({ name }) => name}
        href={({ role }) =>
          hrefTo(router, { to: '/apps/$appId/roles/$role', params: { appId, role } })
        }
        empty={
          <Empty title="No roles yet" curl={curl('/roles', { role: 'nurse', name: 'Nurse' })}>
            Create a role for people who may do less than others, such as guests.
          </Empty>
        }
      />
    </Page>
  )
}
