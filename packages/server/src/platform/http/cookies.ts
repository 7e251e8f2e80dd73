/** A cookie that scripts can't read and that is only sent to its own host. */
export interface CookieOptions {
  /** Whether the service uses HTTPS. */
  secure: boolean
  /** 0 deletes the cookie. */
  seconds: number
}

/** With `__Host-`, browsers bind the cookie to this host and HTTPS, so that no sibling host can set it. */
export const cookieName = (name: string, secure: boolean) => (secure ? `__Host-${name}` : name)

/** The value of a cookie in the `cookie` header. The first one, if there are several. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** The value of a `set-cookie` header. */
export function writeCookie(name: string, value: string, { secure, seconds }: CookieOptions) {
  const flags = ['Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict']
  if (secure) flags.push('Secure')
  return [`${cookieName(name, secure)}=${value}`, ...flags].join('; ')
}
