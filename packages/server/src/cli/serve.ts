import type { Config } from '../config.ts'
import { isEnginesUrl } from '../engines/engines.ts'
import { enginesDir } from '../engines/folder.ts'
import { UserError } from '../platform/errors.ts'
import { type Role, roles, serve } from '../serve.ts'
import type { Command, Context } from './command.ts'
import { explained } from './explain.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Start the service.',
  flags: [
    {
      flag: '--roles <list>',
      description: 'the roles of this process: api, gateway, worker',
      default: roles.join(','),
    },
    {
      flag: '--development-engines',
      description: 'use the engines of loquat dev, which are not meant for production',
    },
  ],
  details:
    'Reads its configuration from environment variables (docs/config.md). On SIGTERM, the process stops accepting work, finishes current requests and exits.',
  examples: ['loquat serve', 'loquat serve --roles api', 'loquat serve --roles gateway,worker'],
  async run(context, flags) {
    const wanted = String(flags.roles).split(',')
    const unknown = wanted.filter((role) => !roles.includes(role as Role))
    if (unknown.length > 0) {
      throw new UserError(
        `Unknown role "${unknown.join('", "')}". The roles are ${roles.join(', ')}.`,
      )
    }
    const config = context.config()
    if (!flags.developmentEngines) checkEngines(context, config)
    // Catch a signal from here on, so that an early one drains too.
    const stopped = context.stopped()
    const service = await explained(config, () => serve(config, wanted as Role[]))
    await stopped
    await service.drain()
  },
}

/**
 * Fails on the engines of loquat dev. Without a configuration every command finds them, and a service that lacks its
 * configuration would serve their data as if nothing were wrong.
 */
function checkEngines({ env }: Context, { engines }: Config) {
  const dir = enginesDir(env)
  if (!isEnginesUrl(dir, engines.directoryUrl)) return
  const why = env.LOQUAT_DIRECTORY_URL
    ? 'LOQUAT_DIRECTORY_URL points to'
    : 'LOQUAT_DIRECTORY_URL is not set, so this command found'
  throw new UserError(
    `${why} the development engines in ${dir}. Nothing was started.\nTo serve your own installation, set LOQUAT_DIRECTORY_URL, LOQUAT_NATS_URL, LOQUAT_REDIS_URL and LOQUAT_SECRET (docs/config.md).\nTo try Loquat on this machine, run loquat dev. To serve the development engines anyway, add --development-engines.`,
  )
}
