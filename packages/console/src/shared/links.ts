import type { AnyRouter, RegisteredRouter, ToOptions } from '@tanstack/react-router'

/** The URL of a page, for components that take a plain `href`. */
export const hrefTo = (router: AnyRouter, to: ToOptions<RegisteredRouter>) =>
  router.history.createHref(router.buildLocation(to as never).href)
