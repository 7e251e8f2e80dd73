/** The media servers that carry an app's calls, without what only the operator of the installation needs to know. */
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Turn } from '../../gate/turn.ts'
import type { KnownServer } from '../../platform/media/media.ts'
import { countOnServersOfApp } from './media.queries.ts'
import type { MediaServerRecord } from './schema.ts'

/** Names a server without revealing its address. */
export const mediaServerName = ({ secrets }: Pick<Deps, 'secrets'>, address: string) =>
  `media-${secrets.hash(address).toString('hex', 0, 4)}`

export async function listCallServers(
  deps: Deps,
  { app }: Actor,
  turn: Turn | undefined,
): Promise<MediaServerRecord[]> {
  const { media } = deps
  const counted = await countOnServersOfApp.many(app.cell.db, { appNo: app.no })
  const calls = new Map(counted.map((row) => [row.server, row.calls]))
  const show = async ({ server, drained, region }: KnownServer): Promise<MediaServerRecord> => ({
    name: mediaServerName(deps, server.address),
    ...(region !== null && { region }),
    state: !(await media.answersSoon(server)) ? 'unreachable' : drained ? 'drained' : 'available',
    calls: calls.get(server.address) ?? 0,
  })
  const shown = media.list().then((all) => {
    const serving = all.filter(({ region }) => region === null || region === app.region)
    return Promise.all(serving.map(show))
  })
  return turn?.outside(shown) ?? shown
}
