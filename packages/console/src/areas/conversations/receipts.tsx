import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { appKey, manage } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Time } from '../../shared/time.tsx'

/** The receipts of a message's first hundred recipients. */
export function Receipts({ appId, id }: { appId: string; id: string }) {
  const receipts = useQuery({
    queryKey: appKey(appId, 'conversations', 'receipts', id),
    queryFn: () => manage.app(appId).messages.listReceipts(id, { limit: 100 }),
  })
  if (receipts.isPending) return <Skeleton lines={3} />
  if (receipts.error) return <Problem error={receipts.error} retry={receipts.refetch} />
  const { data, meta } = receipts.data
  if (data.length === 0) return <p className="soft">No one has received this message yet.</p>
  return (
    <>
      <table className="receipts">
        <thead>
          <tr>
            <th scope="col">User</th>
            <th scope="col">Delivered</th>
            <th scope="col">Read</th>
          </tr>
        </thead>
        <tbody>
          {data.map(({ recipient, deliveredAt, readAt }) => (
            <tr key={recipient}>
              <td>
                <Link to="/apps/$appId/users/$uid" params={{ appId, uid: recipient }}>
                  {recipient}
                </Link>
              </td>
              <td>{deliveredAt ? <Time at={deliveredAt} /> : '–'}</td>
              <td>{readAt ? <Time at={readAt} /> : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {meta.next && <p className="soft">Only the first 100 recipients are shown.</p>}
    </>
  )
}
