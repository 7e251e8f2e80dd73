/** What the routes of sources and of websites share. */
import type { Access } from '../../../gate/plugin.ts'

export const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
export const finding = { ...access, errors: ['ERR_KB_NOT_FOUND'] as const }
export const tags = ['knowledge']
export const BASE = '/ai-agents/agent-builder/knowledge-base'
