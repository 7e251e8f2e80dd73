import { UserError } from '../platform/errors.ts'
import { removeMediaServer } from '../platform/media/queries.ts'
import type { Command } from './command.ts'
import { withDeps } from './deps.ts'
import { ADDRESS } from './media-servers-add.ts'
import { countCalls, findKnown } from './media-servers-list.ts'

export const mediaServersRemove: Command = {
  name: 'media-servers remove',
  summary: 'Remove a media server.',
  flags: [
    ADDRESS,
    {
      flag: '--despite-calls',
      description: 'also if calls are on it; they move to another media server',
    },
  ],
  details:
    'Refused while calls are on it: drain it first, and wait. With --despite-calls, their devices connect to another media server, which takes seconds without audio and video.',
  examples: ['loquat media-servers remove --address janus+http://10.0.0.7:8088/janus'],
  async run(context, flags) {
    const address = String(flags.address)
    await withDeps(
      context,
      async ({ media, directory }) => {
        const { fixed } = await findKnown(media, address)
        if (fixed) {
          throw new UserError(
            `${address} is in LOQUAT_MEDIA_SERVERS. Remove it there, restart all processes, and run this command again.`,
          )
        }
        const calls = (await countCalls(directory)).get(address) ?? 0
        if (calls > 0 && !flags.despiteCalls) {
          throw new UserError(
            `${calls} ${calls === 1 ? 'call is' : 'calls are'} on ${address}. Nothing was changed. Drain it first and wait until they are over: loquat media-servers drain --address ${address}\nTo move them to another media server now, add --despite-calls.`,
          )
        }
        await removeMediaServer.run(directory.db, { address })
      },
      { asOwner: true },
    )
    context.print(`${address} is removed.`)
  },
}
