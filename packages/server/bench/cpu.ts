/** CPU time of processes, from the kernel's own count: the same whatever else runs on the machine. */
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

interface Times {
  parent: number
  own: number
  /** Of children that have ended. */
  ended: number
}

function timesOf(pid: number): Times {
  // The name, in parentheses, can hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const ticks = (...places: number[]) =>
    places.reduce((sum, place) => sum + Number(fields[place]), 0) / TICKS_PER_SECOND
  return { parent: Number(fields[1]), own: ticks(11, 12), ended: ticks(13, 14) }
}

export const parentOf = (pid: number) => timesOf(pid).parent

/** Seconds of a process with its children, those that ended too. */
export function cpuOfTree(pid: number): number {
  const { own, ended } = timesOf(pid)
  const running = cpuOfChildren(pid)
  // One that ended meanwhile stands in neither sum.
  return timesOf(pid).ended === ended ? own + ended + running : cpuOfTree(pid)
}

function cpuOfChildren(pid: number): number {
  let seconds = 0
  for (const child of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const { parent, own } = timesOf(child)
      if (parent === pid) seconds += own
    } catch {
      // It has ended: the next look counts it.
    }
  }
  return seconds
}

/** Memory that a process holds, in MB. */
export function residentOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
