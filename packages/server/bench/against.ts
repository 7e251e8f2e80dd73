/** Runs a bench of this work tree and of another commit in turns, each on its own engines. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Report } from './figure.ts'
import { type Comparison, compare, type Printed } from './ratios.ts'
import { Side } from './side.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const BENCH = ['packages/server/bench', 'scripts/bench.ts']

export interface Versus {
  bench: string
  commit: string
  rounds: number
  /** The other commit runs the bench of this work tree, on its own code, instead of its own bench. */
  sameBench: boolean
}

export async function against(
  { bench, commit, rounds, sameBench }: Versus,
  report: Report,
): Promise<Comparison> {
  return inTreeOf(commit, async (tree) => {
    for (const path of sameBench ? BENCH : [])
      cpSync(join(ROOT, path), join(tree, path), { recursive: true })
    const [ours, theirs]: [Printed[], Printed[]] = [[], []]
    for (let round = 1; round <= rounds; round++) {
      report(`round ${round} of ${rounds}`)
      const start = (root: string, name: string) =>
        new Side(root, bench, (line) => report(`${name}: ${line}`))
      const figures = await takeTurns(start(ROOT, 'here'), start(tree, commit))
      ours.push(figures[0])
      theirs.push(figures[1])
    }
    return compare(ours, theirs)
  })
}

/**
 * Both prepare at the same time. From the first line that each reports, one measures while the other
 * waits, line by line, so that a slow minute of the machine slows both. They take turns as A B B A:
 * if the machine slows down, neither side gains from it.
 */
export async function takeTurns(first: Side, second: Side): Promise<[Printed, Printed]> {
  const sides = [first, second]
  const stop = () => Promise.all(sides.map((side) => side.stop()))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    await Promise.all(sides.map((side) => side.paused()))
    while (sides.some(({ running }) => running)) {
      for (const side of sides) {
        await side.proceed()
        // Throws if this side failed, which stops the other one too.
        if (!side.running) await side.figures
      }
      sides.reverse()
    }
    return [await first.figures, await second.figures]
  } finally {
    await stop()
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

/** Checks out the commit in a folder outside the repository while `work` runs. */
async function inTreeOf<T>(commit: string, work: (tree: string) => Promise<T>): Promise<T> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, stdio: 'pipe' })
  const folder = mkdtempSync(join(tmpdir(), 'loquat-against-'))
  const tree = join(folder, 'tree')
  try {
    git('worktree', 'add', '--detach', tree, commit)
    install(tree)
    return await work(tree)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    git('worktree', 'prune')
  }
}

/** Copies our node_modules as hard links if the lock file is the same. Workspace links are relative, so they stay in the tree. */
function install(tree: string): void {
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: tree, stdio: ['ignore', 2, 2] }).status === 0
  const lockOf = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  const modules = join(ROOT, 'node_modules')
  if (lockOf(tree) === lockOf(ROOT) && run('cp', '-al', modules, '.')) return
  if (!run('npm', 'ci', '--no-audit', '--no-fund')) throw new Error(`npm ci failed in ${tree}.`)
}
