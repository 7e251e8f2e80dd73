import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { manage } from '../../shared/manage.ts'
import { Choice, Copyable, Destroy, day, Field, Form, Problem } from '../../shared/parts.tsx'

const SCOPES = {
  authOnly: 'authOnly: auth tokens',
  fullAccess: 'fullAccess: everything',
} as const
type Scope = keyof typeof SCOPES

export function Keys() {
  const { appId } = useParams({ strict: false }) as { appId: string }
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [scope, setScope] = useState<Scope>('authOnly')
  const keys = useQuery({
    queryKey: ['keys', appId, 'all'],
    queryFn: () => manage.app(appId).apiKeys.list(),
  })
  const onSuccess = () => queries.invalidateQueries({ queryKey: ['keys', appId] })
  const create = useMutation({
    mutationFn: () => manage.app(appId).apiKeys.create({ name, scope }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: (apiKey: string) => manage.app(appId).apiKeys.delete(apiKey),
    onSuccess,
  })
  return (
    <>
      <Problem error={keys.error ?? remove.error} />
      <ul className="cards">
        {keys.data?.data.map((key) => (
          <li key={key.apiKey}>
            <strong>{key.name}</strong>
            <small>
              {key.scope} · {day(key.createdAt)}
            </small>
            <Copyable label="Key" value={key.apiKey} />
            <Destroy what="Remove" name={key.name} onConfirm={() => remove.mutate(key.apiKey)} />
          </li>
        ))}
      </ul>
      <Form className="panel" sends={create} submit="Create key">
        <h2>New key</h2>
        <Field label="Name" value={name} onChange={setName} />
        <Choice label="Scope" value={scope} options={SCOPES} onChange={setScope} />
      </Form>
    </>
  )
}
