/** Which messages a user may save: those that the user can read. */
import {
  type Accessed,
  type Refusal,
  refuseActionMessage,
  refuseDeleted,
} from '../../core/policy.ts'

export const refuseSave = (message: Accessed): Refusal =>
  refuseActionMessage(message) ?? refuseDeleted(message)
