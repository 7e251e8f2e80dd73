import { directoryQuery } from '../../platform/db/query.ts'

/** No row if two-factor authentication is already on. */
export const startTotpSecret = directoryQuery<
  { operatorNo: number; sealed: Buffer },
  { started: true }
>(
  'totp.start',
  `update operators set totp_pending_sealed = :sealed
   where operator_no = :operatorNo and totp_sealed is null
   returning true as started`,
)

/** Activates the new secret, with the time step of the code that confirmed it. */
export const confirmTotpSecret = directoryQuery<
  { operatorNo: number; sealed: Buffer; step: number },
  { confirmed: true }
>(
  'totp.confirm',
  `update operators set totp_sealed = totp_pending_sealed, totp_pending_sealed = null,
     totp_step = :step
   where operator_no = :operatorNo and totp_pending_sealed = :sealed
   returning true as confirmed`,
)

/** No row if two-factor authentication is off. */
export const removeTotpSecret = directoryQuery<{ operatorNo: number }, { removed: true }>(
  'totp.remove',
  `update operators set totp_sealed = null, totp_pending_sealed = null
   where operator_no = :operatorNo and totp_sealed is not null
   returning true as removed`,
)

/** Locks the account while its recovery codes are replaced; no row without two-factor authentication. */
export const lockTotp = directoryQuery<{ operatorNo: number }, { locked: true }>(
  'totp.lock',
  `select true as locked from operators
   where operator_no = :operatorNo and totp_sealed is not null for no key update`,
)

export const removeRecoveryCodes = directoryQuery<{ operatorNo: number }>(
  'totp.removeRecoveryCodes',
  'delete from recovery_codes where operator_no = :operatorNo',
)

export const insertRecoveryCodes = directoryQuery<{ operatorNo: number; hashes: Buffer[] }>(
  'totp.insertRecoveryCodes',
  `insert into recovery_codes (operator_no, code_hash)
   select :operatorNo, unnest(:hashes::bytea[])`,
)
