import { UserError } from '../platform/errors.ts'
import { type Role, roles, serve } from '../serve.ts'
import type { Command } from './command.ts'
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
    const service = await explained(config, () => serve(config, wanted as Role[]))
    await context.stopped()
    await service.drain()
  },
}
