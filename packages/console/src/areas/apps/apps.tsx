import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { manage } from '../../shared/manage.ts'
import { Choice, day, Empty, Field, Form, Problem } from '../../shared/parts.tsx'

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
    <Form className="panel" sends={create} submit="Create app">
      <h2>New app</h2>
      <Field label="Name" value={name} onChange={setName} />
      <Choice label="Region" value={region} options={REGIONS} onChange={setRegion} />
    </Form>
  )
}
