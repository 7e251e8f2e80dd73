import { Link } from '@tanstack/react-router'
import type { Party } from './content.ts'

export function PartyLink({ appId, of }: { appId: string; of: Party }) {
  const name = <bdi>{of.name}</bdi>
  if (of.id === 'app_system') return name
  if (of.kind === 'group') {
    return (
      <Link to="/apps/$appId/groups/$guid" params={{ appId, guid: of.id }}>
        {name}
      </Link>
    )
  }
  return (
    <Link to="/apps/$appId/users/$uid" params={{ appId, uid: of.id }}>
      {name}
    </Link>
  )
}
