import { badRequest } from './fail.ts'

/**
 * The fields that a change clears: those named in `unset`, and those given as null, which says the same.
 * A value beside that contradicts itself.
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

/** A change that changes nothing: no time moves, and nobody is told. */
export const isEmpty = ({ unset = [], ...fields }: { unset?: string[] } & object): boolean =>
  unset.length === 0 && Object.keys(fields).length === 0
