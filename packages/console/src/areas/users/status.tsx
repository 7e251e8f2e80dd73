import type { User } from '@loquat/sdk'
import { Status } from '../../shared/status.tsx'

export function UserStatus({ of }: { of: User }) {
  if (of.deactivatedAt) return <Status tone="bad">Deactivated</Status>
  return of.status === 'online' ? <Status tone="good">Online</Status> : <Status>Offline</Status>
}
