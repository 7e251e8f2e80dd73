import { UserError } from '../platform/errors.ts'
import { type Role, roles, serve } from '../serve.ts'
import type { Command } from './command.ts'
import { explained } from './explain.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Start the service in production.',
  flags: [
    {
      flag: '--roles <list>',
      description: 'what this process does: api, gateway, worker',
      default: roles.join(','),
    },
  ],
  details:
    'Configured by the environment (docs/config.md). SIGTERM drains: no new work is taken, requests under way finish, then the process ends.',
  examples: ['loquat serve', 'loquat serve --roles api', 'loquat serve --roles gateway,worker'],
  async run(context, flags) {
    const wanted = String(flags.roles).split(',')
    const unknown = wanted.filter((role) => !roles.includes(role as Role))
    if (unknown.length > 0) {
      throw new UserError(`No role "${unknown.join('", "')}". There are ${roles.join(', ')}.`)
    }
    const config = context.config()
    const service = await explained(config, () => serve(config, wanted as Role[]))
    await context.stopped()
    await service.drain()
  },
}
