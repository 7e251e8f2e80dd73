export interface ErrorDefinition {
  status: number
  /** Whether the same request can succeed later. */
  retry: boolean
  /** `{name}` is replaced by a value that the caller of `fail` passes. */
  message: string
  /** When the service returns it; printed in docs/errors.md. */
  when: string
}
