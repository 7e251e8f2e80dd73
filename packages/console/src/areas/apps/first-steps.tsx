import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CodeBlock } from '../../shared/copyable.tsx'
import { useCurl } from '../../shared/curl.ts'
import { Icon } from '../../shared/icons.tsx'
import { appKey, manage, useApp } from '../../shared/manage.ts'
import { Panel } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'

/** A checklist for a new app. Steps tick themselves off, however they were done. A complete list gives way to totals. */
export function FirstSteps() {
  const { appId } = useApp()
  const curl = useCurl()
  const api = manage.app(appId)
  const found = useQuery({
    queryKey: appKey(appId, 'first-steps'),
    queryFn: async () => {
      const one = { perPage: 1 }
      const lists = [api.users.list(one), api.groups.list(one), api.conversations.list(one)]
      const [users = 0, groups = 0, conversations = 0] = (await Promise.all(lists)).map(
        ({ meta }) => meta.pagination.total,
      )
      return { users, groups, conversations }
    },
    // Steps tick off while the operator pastes commands into a terminal.
    refetchInterval: (query) => (query.state.data?.conversations ? false : 4_000),
  })
  const { users = 0, groups = 0, conversations = 0 } = found.data ?? {}
  const steps = [
    {
      text: 'Create two users',
      done: users > 1,
      code: [
        curl('/users', { uid: 'amira', name: 'Amira' }),
        curl('/users', { uid: 'ben', name: 'Ben' }),
      ].join('\n'),
    },
    {
      text: 'Create a group with both users',
      done: groups > 0,
      code: curl('/groups', {
        guid: 'team',
        name: 'The team',
        type: 'public',
        owner: 'amira',
        members: { participants: ['ben'] },
      }),
    },
    {
      text: 'Send a message',
      done: conversations > 0,
      code: curl(
        '/messages',
        { receiver: 'ben', receiverType: 'user', data: { text: 'Hello Ben' } },
        'amira',
      ),
    },
  ]
  const next = steps.findIndex(({ done }) => !done)
  if (!found.data) return <Problem error={found.error} retry={found.refetch} />
  if (next === -1) return <Totals totals={found.data} />
  return (
    <Panel title="Get started">
      <ol className="steps" style={{ margin: 0, padding: 0, listStyle: 'none' }}>
        {steps.map(({ text, done, code }, at) => (
          <li key={text} className={done ? 'done' : ''}>
            <span className="tick">{done ? <Icon name="check" /> : at + 1}</span>
            <div className="stack">
              <strong>
                {text}
                {done && <span className="hidden-text"> (done)</span>}
              </strong>
              {at === next && <CodeBlock label={text} code={code} />}
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

/** How many users, groups and conversations an app has. */
function Totals({ totals }: { totals: { users: number; groups: number; conversations: number } }) {
  const { appId } = useApp()
  const links = [
    ['/apps/$appId/users', 'Users', totals.users],
    ['/apps/$appId/groups', 'Groups', totals.groups],
    ['/apps/$appId/conversations', 'Conversations', totals.conversations],
  ] as const
  return (
    <Panel title="In this app">
      <ul className="totals">
        {links.map(([to, name, total]) => (
          <li key={name}>
            <Link to={to} params={{ appId }}>
              {name}
            </Link>
            <strong>{total.toLocaleString('en')}</strong>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
