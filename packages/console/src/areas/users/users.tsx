import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { manage } from '../../shared/manage.ts'
import { day, Empty, Field, Problem } from '../../shared/parts.tsx'

export function Users() {
  const { appId } = useParams({ strict: false }) as { appId: string }
  const [searchKey, setSearchKey] = useState('')
  const users = useInfiniteQuery({
    queryKey: ['users', appId, searchKey],
    queryFn: ({ pageParam }) =>
      manage.app(appId).users.list({
        perPage: 50,
        ...(searchKey && { searchKey }),
        ...(pageParam && { cursor: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.cursor?.next,
  })
  const rows = users.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <>
      <Field label="Search" required={false} value={searchKey} onChange={setSearchKey} />
      <Problem error={users.error} />
      {users.isSuccess && rows.length === 0 && (
        <Empty>
          {searchKey ? 'Nobody matches.' : 'No users yet: create one with POST /users.'}
        </Empty>
      )}
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">UID</th>
              <th scope="col">Role</th>
              <th scope="col">Created</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ uid, name, role, createdAt }) => (
              <tr key={uid}>
                <td>{name}</td>
                <td>
                  <code>{uid}</code>
                </td>
                <td>{role}</td>
                <td>{day(createdAt ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {users.hasNextPage && (
        <button type="button" onClick={() => void users.fetchNextPage()}>
          More
        </button>
      )}
    </>
  )
}
