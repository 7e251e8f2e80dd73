import { LoquatError } from '@loquat/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { appKey, manage, useApp } from '../../shared/manage.ts'
import { Facts, Panel } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'

/** How often to look whether a running erasure is done. */
const POLL_MS = 1_000

/** Erases a user, or shows what an erasure did. */
export function Erasure({ uid, name }: { uid: string; name?: string }) {
  const { appId } = useApp()
  const queries = useQueryClient()
  const { erasures } = manage.app(appId)
  const queryKey = appKey(appId, 'erasures', uid)
  const query = useQuery({
    queryKey,
    queryFn: () => erasures.get(uid).catch(noneYet),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? POLL_MS : false),
  })
  const erase = (mode: 'remove' | 'anonymise') => async () => {
    await erasures.create(uid, { mode })
    await queries.invalidateQueries({ queryKey })
    toast(`Erasing ${name ?? uid}`)
  }
  const erasure = query.data
  return (
    <div className="stack">
      <Problem error={query.error} />
      {name !== undefined && erasure?.state !== 'running' && (
        <Panel title="Erase personal data">
          <p>
            Removes what is known about this person from all places: messages, events, search, the
            audit log. Nobody can undo it.
          </p>
          <div className="row">
            <ConfirmByName
              what="Erase user with messages"
              name={name}
              about="This deletes the user, their 1:1 conversations, their messages in groups and everything else that names them."
              act={erase('remove')}
            />
            {erasure?.mode !== 'anonymise' && (
              <ConfirmByName
                what="Anonymise user"
                name={name}
                about="This removes name, profile, addresses and sessions. Messages stay, from “Deleted user”."
                trigger={<Button>Anonymise user</Button>}
                act={erase('anonymise')}
              />
            )}
          </div>
        </Panel>
      )}
      {erasure && (
        <Panel title="Receipt of the erasure">
          <Facts
            facts={{
              State: erasure.state === 'done' ? 'Done' : 'Running',
              Mode: erasure.mode === 'remove' ? 'Removed with messages' : 'Anonymised',
              Requested: <Time at={erasure.createdAt} />,
              ...(erasure.completedAt !== undefined && {
                Completed: <Time at={erasure.completedAt} />,
              }),
            }}
          />
          {erasure.receipt && (
            <table className="report">
              <thead>
                <tr>
                  <th scope="col">Table and columns</th>
                  <th scope="col">Deleted</th>
                  <th scope="col">Changed</th>
                </tr>
              </thead>
              <tbody>
                {erasure.receipt.map(({ table, columns, deleted, changed }) => (
                  <tr key={table}>
                    <th scope="row">
                      {table}
                      <p>{columns.join(', ')}</p>
                    </th>
                    <td>{deleted}</td>
                    <td>{changed}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Panel>
      )}
    </div>
  )
}

function noneYet(error: unknown): null {
  if (error instanceof LoquatError && error.code === 'ERR_ERASURE_NOT_FOUND') return null
  throw error
}
