import type { User } from '@loquat/sdk'
import { Status } from '../../shared/status.tsx'

export function UserStatus({ user }: { user: User }) {
  if (user.deactivatedAt) return <Status tone="bad">Deactivated</Status>
  return user.status === 'available' ? (
    <Status tone="good">Online</Status>
  ) : (
    <Status>Offline</Status>
  )
}
