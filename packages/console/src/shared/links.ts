import type { AnyRouter, RegisteredRouter, ToOptions } from '@tanstack/react-router'

/** The address of a page, for parts that take a plain one. */
export const hrefTo = (router: AnyRouter, to: ToOptions<RegisteredRouter>) =>
  router.history.createHref(router.buildLocation(to as never).href)
