import { useState } from 'react'
import { Choice } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import { Permissions } from '../roles/permissions.tsx'
import { SCOPES, type Scope } from './scopes.ts'

/** What the members of a group may do, by their scope. */
export function ScopePermissions({ guid }: { guid: string }) {
  const appId = useAppId()
  const { permissions } = manage.app(appId)
  const [scope, setScope] = useState<Scope>('participant')
  return (
    <div className="stack">
      <Panel
        title="Members' permissions"
        about="These permissions apply to this group only, in addition to those of the users' roles. They never bind the owner."
      >
        <Choice label="Scope" value={scope} options={SCOPES} onChange={setScope} />
      </Panel>
      <Permissions
        key={scope}
        store={{
          queryKey: appKey(appId, 'groups', 'permissions', guid, scope),
          list: () => permissions.listScope(guid, scope, { perPage: 100 }),
          update: (values) => permissions.updateScope(guid, scope, { permissions: values }),
          reset: (permission) => permissions.deleteScope(guid, scope, permission),
        }}
      />
    </div>
  )
}
