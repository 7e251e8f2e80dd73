import { fileURLToPath } from 'node:url'

/** `.engines/` at the top of the checkout, unless LOQUAT_ENGINES_DIR says otherwise. */
export function enginesDir(env: NodeJS.ProcessEnv): string {
  return env.LOQUAT_ENGINES_DIR ?? fileURLToPath(new URL('../../../../.engines', import.meta.url))
}
