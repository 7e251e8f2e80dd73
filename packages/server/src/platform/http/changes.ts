import { badRequest } from './fail.ts'

/**
 * The fields that an update clears: those listed in `unset`, and those that are null. Throws if a field in `unset`
 * also has a value.
 */
export function readUnset({ unset = [], ...fields }: { unset?: string[] } & object): string[] {
  const given = fields as Record<string, unknown>
  const both = unset.filter((field) => given[field] !== undefined && given[field] !== null)
  if (both.length > 0) {
    throw badRequest(
      Object.fromEntries(both.map((field) => [field, [`${field} must not be both set and unset`]])),
    )
  }
  const nulls = Object.keys(given).filter((field) => given[field] === null)
  return [...new Set([...unset, ...nulls])]
}

/** Whether an update changes nothing. It then changes no timestamp and causes no event. */
export const isEmpty = ({ unset = [], ...fields }: { unset?: string[] } & object): boolean =>
  unset.length === 0 && Object.keys(fields).length === 0
