/** The origin of an endpoint, if no value is part of it. */
export function originOf(endpoint: string): string | undefined {
  const [origin = '', host = ''] = /^[a-z]+:\/\/([^/?#]*)/i.exec(endpoint) ?? []
  return host.includes('{') ? undefined : URL.parse(origin)?.origin
}
