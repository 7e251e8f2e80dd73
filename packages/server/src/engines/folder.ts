import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `.engines/` at the top of the checkout, unless LOQUAT_ENGINES_DIR says otherwise. */
export function enginesDir(env: NodeJS.ProcessEnv): string {
  // The engines are started from another folder: the path must hold there too.
  if (env.LOQUAT_ENGINES_DIR) return resolve(env.LOQUAT_ENGINES_DIR)
  return fileURLToPath(new URL('../../../../.engines', import.meta.url))
}
