import type { Actor } from '../../core/actor.ts'
import type { ConversationKind } from '../../core/ids.ts'
import type { Access } from '../../gate/plugin.ts'
import { UidParams } from '../users/schema.ts'
import { checkCounterpart, type ViewKey } from './actions.ts'
import { GuidParams } from './schema.ts'

/** Operations on a view belong to its owner. */
export const ofOwner: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'required',
  rate: 'standard',
}

/** Why rules don't name what users do with their view of a conversation. */
export const VIEW = {
  none: 'Tags, pins and receipts of a conversation have no feature in the contract.',
}

/** How the two kinds of conversations differ. */
export const kinds = [
  {
    kind: 'user' as const,
    path: '/users/:uid/conversation',
    params: UidParams,
    name: 'User',
    what: 'the conversation with a user',
    unknown: 'ERR_UID_NOT_FOUND' as const,
  },
  {
    kind: 'group' as const,
    path: '/groups/:guid/conversation',
    params: GuidParams,
    name: 'Group',
    what: "a group's conversation",
    unknown: 'ERR_GUID_NOT_FOUND' as const,
  },
]

/** The actor's conversation; the header is required, so there is an acting user. */
export async function viewKeyOf(
  actor: Actor,
  kind: ConversationKind,
  params: object,
): Promise<ViewKey> {
  const [withId = ''] = Object.values(params)
  const viewKey = { uid: actor.uid ?? '', kind, withId }
  await checkCounterpart(actor, viewKey)
  return viewKey
}
