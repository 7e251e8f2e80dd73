import { countOnServers } from '../areas/calls/media.queries.ts'
import { mediaServerName } from '../areas/calls/servers.ts'
import type { Directory } from '../platform/cells/directory.ts'
import { UserError } from '../platform/errors.ts'
import type { KnownServer, Media } from '../platform/media/media.ts'
import type { MediaServer } from '../platform/media/server.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { table } from './table.ts'

export const mediaServersList: Command = {
  name: 'media-servers list',
  summary: 'List all media servers, with the calls that are on them.',
  flags: [{ flag: '--json', description: 'print one JSON array' }],
  details:
    'Shows the name that the console has for each server, whose calls are placed on each server and whether new ones are, how many calls of all apps are on it, how many devices send to it, and whether the environment (LOQUAT_MEDIA_SERVERS) or `loquat media-servers add` named it. A server that is drained and has no calls can be removed and stopped.',
  examples: ['loquat media-servers list', 'loquat media-servers list --json'],
  async run(context, { json }) {
    const servers = await withDeps(context, async (deps) => {
      const { media, directory } = deps
      const calls = await countCalls(directory)
      const show = async ({ server, drained, fixed, region }: KnownServer) => ({
        name: mediaServerName(deps, server.address),
        address: server.address,
        region,
        acceptsCalls: !drained,
        calls: calls.get(server.address) ?? 0,
        ...(await stateOf(server)),
        fromEnvironment: fixed,
      })
      return Promise.all((await media.list()).map(show))
    })
    if (json) return context.print(JSON.stringify(servers))
    if (servers.length === 0) {
      context.note('No media servers yet. Add one: loquat media-servers add')
    }
    context.print(
      table(
        ['NAME', 'ADDRESS', 'REGION', 'NEW CALLS', 'CALLS', 'SENDERS', 'ANSWERS', 'NAMED BY'],
        servers.map(
          ({ name, address, region, acceptsCalls, calls, senders, answers, fromEnvironment }) => [
            ...[
              name,
              address,
              region ?? 'all',
              acceptsCalls ? 'yes' : 'no',
              String(calls),
              String(senders ?? '-'),
            ],
            ...[
              answers === null ? '-' : answers ? 'yes' : 'no',
              fromEnvironment ? 'environment' : 'command',
            ],
          ],
        ),
      ),
    )
  },
}

interface State {
  answers: boolean | null
  senders: number | null
}

/** Each process has a werift of its own, so that of this command knows nothing. */
async function stateOf(server: MediaServer): Promise<State> {
  if (server.address === 'werift') return { answers: null, senders: null }
  return server.load().then(
    (senders) => ({ answers: true, senders }),
    () => ({ answers: false, senders: null }),
  )
}

/** How many calls are on each media server, in all cells. */
export async function countCalls(directory: Directory): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { db } of directory.cells()) {
    for (const { server, calls } of await countOnServers.many(db, {}))
      counts.set(server, (counts.get(server) ?? 0) + calls)
  }
  return counts
}

export async function findKnown(media: Media, address: string): Promise<KnownServer> {
  const known = (await media.list()).find(({ server }) => server.address === address)
  if (!known) {
    throw new UserError(
      `There is no media server ${address}. To see all media servers: loquat media-servers list`,
    )
  }
  return known
}
