import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { manage } from '../../shared/manage.ts'
import { day, Empty, Field, Problem } from '../../shared/parts.tsx'

const REGIONS = { us: 'United States', eu: 'Europe', in: 'India' } as const
type Region = keyof typeof REGIONS

export function Apps() {
  const [searchKey, setSearchKey] = useState('')
  const { data, error } = useQuery({
    queryKey: ['apps', searchKey],
    queryFn: () => manage.apps.list(searchKey ? { searchKey } : {}),
  })
  return (
    <main>
      <h1>Apps</h1>
      <Field label="Search" required={false} value={searchKey} onChange={setSearchKey} />
      <Problem error={error} />
      {data?.data.length === 0 && (
        <Empty>{searchKey ? 'No app matches.' : 'No app yet. Create the first one below.'}</Empty>
      )}
      <ul className="cards">
        {data?.data.map((app) => (
          <li key={app.id}>
            <Link to="/apps/$appId" params={{ appId: app.id }}>
              {app.name}
            </Link>
            <small>
              {app.region} · {app.role} · {day(app.createdAt)}
              {app.state === 'archived' && ' · deleted'}
            </small>
          </li>
        ))}
      </ul>
      <CreateApp />
    </main>
  )
}

function CreateApp() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [region, setRegion] = useState<Region>('us')
  const create = useMutation({
    mutationFn: () => manage.apps.create({ name, region }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['apps'] })
      await navigate({ to: '/apps/$appId', params: { appId: id } })
    },
  })
  return (
    <form
      className="panel"
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <h2>New app</h2>
      <Field label="Name" value={name} onChange={setName} />
      <p className="field">
        <label htmlFor="region">Region</label>
        <select
          id="region"
          value={region}
          onChange={(event) => setRegion(event.target.value as Region)}
        >
          {Object.entries(REGIONS).map(([id, label]) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </p>
      <Problem error={create.error} />
      <button type="submit" disabled={create.isPending}>
        Create app
      </button>
    </form>
  )
}
