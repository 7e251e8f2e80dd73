/** Nothing that a browser gets with these can act for the origin: it is only saved, or shown in a sandbox. */
export const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  // Pages of any origin may use a URL that somebody gave them.
  'access-control-allow-origin': '*',
}
