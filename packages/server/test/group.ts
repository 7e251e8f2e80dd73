/** Runs several test files in one process, because starting a process and importing the service costs a second and more. */
import { resolve } from 'node:path'
import { after, suite } from 'node:test'
import { recordCost } from './costs.ts'
import { shareServer } from './kit.ts'

export interface Group {
  files: string[]
  /** Whether the files that need a server without options use the same one. Otherwise each file starts its own. */
  shared: boolean
}

/**
 * Each file becomes a suite with its path as the name, so its hooks run only for its own tests. The suites run one
 * after the other.
 */
export function runGroup({ files, shared }: Group): void {
  if (shared) shareServer()
  let earlier: Promise<unknown> = Promise.resolve()
  for (const file of files) {
    const before = earlier
    const { promise, resolve: done } = Promise.withResolvers<void>()
    earlier = promise
    suite(file, async () => {
      // Files imported at the same time could add their tests to the wrong suite. The test runner finds the suite by
      // the promise that led to the import, so it must be one made here.
      await new Promise<void>((go) => void before.then(() => go()))
      await import(resolve(file)).finally(done)
      after(() => recordCost(file))
    })
  }
}
