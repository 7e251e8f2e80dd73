/** What a site asks of crawlers in its robots.txt (RFC 9309). */

/** What site owners call this crawler. */
export const CRAWLER = 'loquat'

/** The longest rule that fits a path decides. */
export interface RobotsRule {
  allow: boolean
  path: string
}

export interface Robots {
  rules: RobotsRule[]
  /** The pause between two pages that the site asks for. */
  delaySeconds: number
}

/** No site needs more. What is left out forbids nothing. */
const RULES = 500
const PATH_LENGTH = 500

/** Our own rules if a group names this crawler, otherwise those for all. */
export function parseRobots(text: string): Robots {
  const own: Robots = { rules: [], delaySeconds: 0 }
  const common: Robots = { rules: [], delaySeconds: 0 }
  let [named, inRules] = [false, false]
  let agents: string[] = []
  for (const [field, value] of fieldsOf(text)) {
    if (field === 'user-agent') {
      // Agents above the same rules form a group.
      if (inRules) agents = []
      inRules = false
      agents.push(value.toLowerCase().split('/')[0]?.trim() ?? '')
      named ||= agents.includes(CRAWLER)
      continue
    }
    inRules = true
    if (agents.includes(CRAWLER)) add(own, field, value)
    if (agents.includes('*')) add(common, field, value)
  }
  return named ? own : common
}

function* fieldsOf(text: string): Generator<[field: string, value: string]> {
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [content = ''] = line.split('#')
    const colon = content.indexOf(':')
    if (colon < 0) continue
    const field = content.slice(0, colon).trim().toLowerCase()
    // Others, such as the address of a sitemap, don't end a list of agents.
    if (!['user-agent', 'allow', 'disallow', 'crawl-delay'].includes(field)) continue
    yield [field, content.slice(colon + 1).trim()]
  }
}

function add(robots: Robots, field: string, value: string): void {
  if (field === 'crawl-delay') {
    const seconds = Number(value)
    if (seconds > 0) robots.delaySeconds = seconds
    return
  }
  if (value === '' || value.length > PATH_LENGTH || robots.rules.length >= RULES) return
  robots.rules.push({ allow: field === 'allow', path: encoded(value) })
}

/** As in a URL, where other characters than ASCII are encoded. */
function encoded(path: string): string {
  const url = path.startsWith('//') ? null : URL.parse(path, 'https://site.invalid')
  return url ? url.pathname + url.search : path
}

export function isAllowed(rules: readonly RobotsRule[], { pathname, search }: URL): boolean {
  let best: RobotsRule | undefined
  for (const rule of rules) {
    const more = rule.path.length - (best?.path.length ?? -1)
    const counts = more > 0 || (more === 0 && rule.allow)
    if (counts && matches(rule.path, pathname + search)) best = rule
  }
  return best?.allow ?? true
}

/** `*` stands for anything, and `$` at the end for the end. Looks at each character few times, whatever the pattern. */
function matches(pattern: string, target: string): boolean {
  const whole = pattern.endsWith('$')
  const [first = '', ...rest] = (whole ? pattern.slice(0, -1) : pattern).split('*')
  if (!target.startsWith(first)) return false
  let at = first.length
  const last = whole ? rest.pop() : undefined
  for (const part of rest) {
    const found = target.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  if (!whole) return true
  return last === undefined
    ? at === target.length
    : target.endsWith(last) && target.length - last.length >= at
}
