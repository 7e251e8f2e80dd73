import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `.engines/` at the top of the checkout, or LOQUAT_ENGINES_DIR if it is set. */
export function enginesDir(env: NodeJS.ProcessEnv): string {
  // The path must be absolute, because the engines start in another folder.
  if (env.LOQUAT_ENGINES_DIR) return resolve(env.LOQUAT_ENGINES_DIR)
  return fileURLToPath(new URL('../../../../.engines', import.meta.url))
}

/** Where `loquat dev` writes the id and API key of its demo app. */
export const demoFile = (dir: string) => join(dir, 'demo.json')
