/** Records the CPU time of each test file. Imported into every test process; the runner prints the highest at the end. */
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { cpuOfTree } from '../bench/cpu.ts'

export interface Cost {
  file: string
  /** CPU seconds of the test process and its children. */
  seconds: number
}

let recorded = 0

/** Attributes to the file what this process has used since the last record. */
export function recordCost(file: string): void {
  const used = cpuOfTree(process.pid)
  const cost: Cost = { file: relative('.', file), seconds: used - recorded }
  recorded = used
  appendFileSync(process.env.LOQUAT_TEST_COSTS ?? '/dev/null', `${JSON.stringify(cost)}\n`)
}

process.on('exit', () => recordCost(process.argv[1] ?? ''))
