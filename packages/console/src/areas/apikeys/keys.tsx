import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { manage } from '../../shared/manage.ts'
import { Copyable, Destroy, day, Field, Problem } from '../../shared/parts.tsx'

type Scope = 'authOnly' | 'fullAccess'

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
      <form
        className="panel"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <h2>New key</h2>
        <Field label="Name" value={name} onChange={setName} />
        <p className="field">
          <label htmlFor="scope">Scope</label>
          <select
            id="scope"
            value={scope}
            onChange={(event) => setScope(event.target.value as Scope)}
          >
            <option value="authOnly">authOnly: auth tokens</option>
            <option value="fullAccess">fullAccess: everything</option>
          </select>
        </p>
        <Problem error={create.error} />
        <button type="submit" disabled={create.isPending}>
          Create key
        </button>
      </form>
    </>
  )
}
