import type { Role } from '@loquat/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { JsonButton } from '../../shared/json.tsx'
import { appKey, manage } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { toast } from '../../shared/toasts.tsx'
import { RoleForm } from './form.tsx'
import { Permissions } from './permissions.tsx'
import { Restrictions } from './restrictions.tsx'

const route = getRouteApi('/apps/$appId/roles/$role')

/** Every app has these roles, and they can't be deleted. */
const BUILT_IN = ['default', '@agentic']

export function RolePage() {
  const { appId, role: id } = route.useParams()
  const { tab = 'permissions' } = route.useSearch()
  const navigate = route.useNavigate()
  const { roles, permissions } = manage.app(appId)
  const query = useQuery({
    queryKey: appKey(appId, 'roles', 'one', id),
    queryFn: () => roles.get(id),
  })
  if (!query.data) {
    return (
      <Page title={id}>
        {query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />}
      </Page>
    )
  }
  const role = query.data
  const store = {
    queryKey: appKey(appId, 'roles', 'permissions', id),
    list: () => permissions.listRole(id, { perPage: 100 }),
    update: (values: Record<string, unknown>) =>
      permissions.updateRole(id, { permissions: values }),
    reset: (permission: string) => permissions.deleteRole(id, permission),
  }
  const tabs = [
    { id: 'permissions', name: 'Permissions', content: <Permissions store={store} /> },
    { id: 'restrictions', name: 'Restricted features', content: <Restrictions role={id} /> },
  ]
  return (
    <Page
      title={role.name}
      heading={<span dir="auto">{role.name}</span>}
      description={
        <>
          <code>{role.role}</code> <span dir="auto">{role.description}</span>
        </>
      }
      actions={<Actions role={role} />}
    >
      <Tabs
        label="Role details"
        tabs={tabs}
        open={tabs.some(({ id: known }) => known === tab) ? tab : 'permissions'}
        onOpen={(opened) =>
          void navigate({
            search: opened === 'permissions' ? {} : { tab: opened },
            replace: true,
          })
        }
      />
    </Page>
  )
}

function Actions({ role }: { role: Role }) {
  const { appId } = route.useParams()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  return (
    <>
      <Link
        className="button"
        to="/apps/$appId/users"
        params={{ appId }}
        search={{ role: role.role }}
      >
        View users
      </Link>
      <JsonButton value={role} title={`Role ${role.role}`} />
      <Dialog title="Edit role" trigger={<Button icon="edit">Edit</Button>}>
        {(close) => <RoleForm role={role} onDone={close} />}
      </Dialog>
      {!BUILT_IN.includes(role.role) && (
        <ConfirmByName
          what="Delete role"
          name={role.name}
          about="Users with this role get the default role. Lists that name this role no longer allow anyone through it."
          act={async () => {
            await manage.app(appId).roles.delete(role.role)
            await navigate({ to: '/apps/$appId/roles', params: { appId } })
            await queries.invalidateQueries({ queryKey: appKey(appId, 'roles') })
            toast(`Deleted ${role.name}`)
          }}
        />
      )}
    </>
  )
}
