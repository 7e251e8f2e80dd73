import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Check, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { toast } from '../../shared/toasts.tsx'
import { FEATURES } from './features.ts'
import './roles.css'

/** What users with the role can't do at all, whatever their permissions say. */
export function Restrictions({ role }: { role: string }) {
  const appId = useAppId()
  const { restrictedFeatures } = manage.app(appId)
  const queryKey = appKey(appId, 'roles', 'restrictions', role)
  const query = useQuery({
    queryKey,
    queryFn: () => restrictedFeatures.list(role, { perPage: 100 }),
  })
  if (!query.data) {
    return query.error ? <Problem error={query.error} retry={query.refetch} /> : <Skeleton />
  }
  const restricted = new Set(query.data.data.map(({ key }) => key.replace(/^u\./, '')))
  return (
    <div className="stack">
      <p className="soft">
        A restricted feature is off for everyone with this role. Restrictions are older than
        permissions and less precise: use permissions if they can say what you want.
      </p>
      {Object.entries(FEATURES).map(([title, features]) => (
        <Features
          key={title}
          title={title}
          role={role}
          features={features}
          restricted={restricted}
          queryKey={queryKey}
        />
      ))}
    </div>
  )
}

function Features(props: {
  title: string
  role: string
  features: Record<string, string>
  restricted: Set<string>
  queryKey: unknown[]
}) {
  const { title, role, features, restricted, queryKey } = props
  const { restrictedFeatures } = manage.app(useAppId())
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Record<string, boolean>>({})
  const changes = Object.entries(draft).filter(([key, value]) => restricted.has(key) !== value)
  const save = useMutation({
    mutationFn: async () => {
      const keys = (value: boolean) => changes.filter(([, to]) => to === value).map(([key]) => key)
      const [featuresToRestrict, featuresToAllow] = [keys(true), keys(false)]
      if (featuresToRestrict.length > 0) {
        await restrictedFeatures.restrict(role, { featuresToRestrict })
      }
      if (featuresToAllow.length > 0) await restrictedFeatures.allow(role, { featuresToAllow })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey })
      setDraft({})
      toast('Restrictions saved')
    },
  })
  return (
    <Panel title={title} about="Selected features are restricted.">
      <Form mutation={save} submit="Save" ready={changes.length > 0}>
        <div className="features">
          {Object.entries(features).map(([key, label]) => (
            <Check
              key={key}
              label={label}
              hint={key}
              checked={draft[key] ?? restricted.has(key)}
              onChange={(checked) => setDraft({ ...draft, [key]: checked })}
            />
          ))}
        </div>
      </Form>
    </Panel>
  )
}
