import { readFileSync, readdirSync } from 'node:fs'

/** A clock tick of /proc, on every Linux that Node runs on. */
const tickMs = 10

interface Stat {
  parent: number
  /** Its own time, and that of the children that it has waited for. */
  ownMs: number
  withEndedMs: number
}

/** Returns the processor time of a process: all of its threads, in milliseconds. Linux only. */
export function processorMs(pid: number): number {
  return statOf(pid)?.ownMs ?? 0
}

/** Returns the same for a process and its children, of which some have ended. */
export function familyMs(pid: number): number {
  const self = statOf(pid)
  if (!self) return 0
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat?.parent === pid)
  return children.reduce((sum, child) => sum + (child?.withEndedMs ?? 0), self.withEndedMs)
}

/** Returns the time that the whole machine has been busy and idle so far, over all cores. */
export function machineMs(): { busyMs: number; idleMs: number } {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n')
  const ticks = (line ?? '').trim().split(/\s+/).slice(1, 9).map(Number)
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0)
  const all = ticks.reduce((sum, each) => sum + each, 0)
  return { busyMs: (all - idle) * tickMs, idleMs: idle * tickMs }
}

function statOf(pid: number): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name of the program may hold blanks and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (index: number) => Number(fields[index])
  const ownMs = (at(11) + at(12)) * tickMs
  return { parent: at(1), ownMs, withEndedMs: ownMs + (at(13) + at(14)) * tickMs }
}
