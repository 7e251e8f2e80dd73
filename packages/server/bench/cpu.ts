/** CPU time of processes as the kernel counts it, so other work on the machine doesn't change it. */
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

interface Times {
  parent: number
  own: number
  /** CPU time of children that have ended. */
  ended: number
}

function timesOf(pid: number): Times {
  // The process name, in parentheses, can contain any character.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const ticks = (...places: number[]) =>
    places.reduce((sum, place) => sum + Number(fields[place]), 0) / TICKS_PER_SECOND
  return { parent: Number(fields[1]), own: ticks(11, 12), ended: ticks(13, 14) }
}

export const parentOf = (pid: number) => timesOf(pid).parent

/** CPU seconds of a process and its children, including those that have ended. */
export function cpuOfTree(pid: number): number {
  const { own, ended } = timesOf(pid)
  const running = cpuOfChildren(pid)
  // A child that ended between the two reads is in neither sum, so read again.
  return timesOf(pid).ended === ended ? own + ended + running : cpuOfTree(pid)
}

function cpuOfChildren(pid: number): number {
  let seconds = 0
  for (const child of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const { parent, own } = timesOf(child)
      if (parent === pid) seconds += own
    } catch {
      // The child has ended. The next read counts it.
    }
  }
  return seconds
}

/** Resident memory of a process, in MB. */
export function residentOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
