import { drainMediaServer } from '../platform/media/queries.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { ADDRESS } from './media-servers-add.ts'
import { findKnown } from './media-servers-list.ts'

export const mediaServersDrain: Command = {
  name: 'media-servers drain',
  summary: 'Give a media server no new calls.',
  flags: [ADDRESS],
  details:
    'Calls that are on it go on. When `loquat media-servers list` shows no calls on it, remove and stop it: nobody is cut off. To undo this: loquat media-servers add',
  examples: ['loquat media-servers drain --address janus+http://10.0.0.7:8088/janus'],
  async run(context, flags) {
    const address = String(flags.address)
    await withDeps(
      context,
      async ({ media, directory }) => {
        await findKnown(media, address)
        await drainMediaServer.run(directory.db, { address })
      },
      { asOwner: true },
    )
    context.print(
      `${address} is drained: within seconds, it gets no more new calls. Calls that are on it go on.`,
    )
  },
}
