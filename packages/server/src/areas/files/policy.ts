/** Who may change a file. Who may read one is decided in SQL: `listReadable` in queries.ts. */
import type { Acting, Refusal } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'
import type { FileRow } from './queries.ts'

/** A user completes and deletes only their own files. Those of others look as if they didn't exist. */
export const refuseForeign = (
  { uid }: Pick<Acting, 'uid'>,
  file: Pick<FileRow, 'id' | 'uid'>,
): Refusal =>
  uid === undefined || uid === file.uid ? undefined : fail('ERR_FILE_NOT_FOUND', { id: file.id })
