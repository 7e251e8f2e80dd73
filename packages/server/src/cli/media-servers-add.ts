import { regions } from '@loquat/protocol'
import { isJanus } from '../config.ts'
import { UserError } from '../platform/errors.ts'
import { upsertMediaServer } from '../platform/media/queries.ts'
import type { Command, Flag } from './command.ts'
import { withDeps } from './deps.ts'

export const ADDRESS: Flag = {
  flag: '--address <address>',
  description: 'such as janus+http://10.0.0.7:8088/janus',
  required: true,
}

export const mediaServersAdd: Command = {
  name: 'media-servers add',
  summary: 'Add a media server: it forwards audio and video of calls.',
  flags: [
    ADDRESS,
    {
      flag: '--region <region>',
      description: 'only for calls of apps in this region; without it, of all apps',
      choices: regions,
    },
  ],
  details:
    'The server must answer, with the secret LOQUAT_MEDIA_SECRET. Running processes use it for new calls within seconds. A server that was drained gets new calls again, of the same region unless you name another one. With --region, calls of other regions never use it, not even if all their own servers are down. docs/operating.md says how to set Janus up.',
  examples: [
    'loquat media-servers add --address janus+http://10.0.0.7:8088/janus',
    'loquat media-servers add --address janus+http://10.1.0.7:8088/janus --region eu',
  ],
  async run(context, flags) {
    const address = String(flags.address)
    const region = flags.region === undefined ? null : String(flags.region)
    if (!isJanus(address)) {
      throw new UserError('--address must look like janus+http://10.0.0.7:8088/janus.')
    }
    await withDeps(
      context,
      async ({ media, directory }) => {
        await media
          .open(address)
          .load()
          .catch((error: Error) => {
            throw new UserError(
              `${address} does not answer as a media server: ${error.message}. Nothing was changed. Check --address and LOQUAT_MEDIA_SECRET.`,
            )
          })
        await upsertMediaServer.run(directory.db, { address, region })
      },
      { asOwner: true },
    )
    context.print(`${address} gets new calls within seconds.`)
  },
}
