import { Link } from '@tanstack/react-router'
import type { Party } from './content.ts'

export function PartyLink({ appId, party }: { appId: string; party: Party }) {
  const name = <bdi>{party.name}</bdi>
  if (party.id === 'app_system') return name
  if (party.kind === 'group') {
    return (
      <Link to="/apps/$appId/groups/$guid" params={{ appId, guid: party.id }}>
        {name}
      </Link>
    )
  }
  return (
    <Link to="/apps/$appId/users/$uid" params={{ appId, uid: party.id }}>
      {name}
    </Link>
  )
}
