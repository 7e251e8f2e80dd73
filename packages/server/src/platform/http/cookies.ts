/** A cookie that scripts cannot read and that stays on its own host. */
export interface CookieOptions {
  /** The service is reached by https. */
  secure: boolean
  /** 0 removes it. */
  seconds: number
}

/** `__Host-` makes browsers hold the cookie to this host and https: no sibling host can plant one. */
export const cookieName = (name: string, secure: boolean) => (secure ? `__Host-${name}` : name)

/** The value of a cookie in the header `cookie`; the first where there are several. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** The header `set-cookie`. */
export function writeCookie(name: string, value: string, { secure, seconds }: CookieOptions) {
  const flags = ['Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict']
  if (secure) flags.push('Secure')
  return [`${cookieName(name, secure)}=${value}`, ...flags].join('; ')
}
