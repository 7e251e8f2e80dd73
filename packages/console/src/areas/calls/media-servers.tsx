import type { MediaServer } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { Dialog } from '../../shared/dialog.tsx'
import { appKey, manage } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import { Status, type Tone } from '../../shared/status.tsx'

const STATES: Record<MediaServer['state'], { label: string; tone: Tone }> = {
  available: { label: 'Available', tone: 'good' },
  drained: { label: 'No new calls', tone: 'warn' },
  unreachable: { label: 'Unreachable', tone: 'bad' },
}
const REFRESH_MS = 15_000

/** How many media servers carry the app's calls, and a dialog with each of them. */
export function useMediaServers(appId: string): { value: ReactNode; about: ReactNode } {
  const { data, error, refetch } = useQuery({
    queryKey: appKey(appId, 'calls', 'media-servers'),
    queryFn: () => manage.app(appId).calls.listServers(),
    refetchInterval: REFRESH_MS,
  })
  if (error && !data) return { value: '–', about: <Problem error={error} retry={refetch} /> }
  if (!data) return { value: '–', about: ' ' }
  if (data.length === 0) return { value: 'None', about: 'Calls have no audio and video' }
  const available = data.filter(({ state }) => state === 'available').length
  return {
    value: `${available} of ${data.length} available`,
    about: (
      <Dialog
        title="Media servers"
        trigger={<Button className="media-servers-open">Show each server</Button>}
      >
        <p className="soft">
          They forward audio and video. The operator of this installation adds, drains and removes
          them with <code>loquat media-servers</code>.
        </p>
        <ul className="media-servers">
          {data.map((server) => (
            <li key={server.name}>
              <code>{server.name}</code>
              <span className="soft">{server.region ?? 'All regions'}</span>
              <span>{server.calls === 1 ? '1 call' : `${server.calls} calls`}</span>
              <Status tone={STATES[server.state].tone}>{STATES[server.state].label}</Status>
            </li>
          ))}
        </ul>
      </Dialog>
    ),
  }
}
