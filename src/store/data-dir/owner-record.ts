import { randomUUID } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Whereabouts } from './whereabouts.ts'

const schema = z.object({
  id: z.string(),
  host: z.string(),
  boot: z.string(),
  fileSystem: z.enum(['local', 'shared']),
  /** The lock file, so that one that was deleted and made anew is noticed. */
  lockFile: z.string(),
  since: z.string(),
})

/** The process that has a data directory, as it describes itself. `unreadable`: cut off, or not ours. */
export type Owner =
  | (z.output<typeof schema> & { kind: 'known'; pid: string; text: string })
  /** The record of the version before, which held no lock of the operating system. */
  | { kind: 'old'; pid: string; started: string; text: string }
  | { kind: 'unreadable'; text: string }

/**
 * Returns the text for the owner's file: process id and start time, then what else decides. The version before reads the
 * first two words only, and so finds this process alive.
 */
export async function ownerText(where: Whereabouts, lockFile: string): Promise<string> {
  const record: z.output<typeof schema> = {
    id: randomUUID(),
    ...where,
    lockFile,
    since: new Date().toISOString(),
  }
  return `${process.pid} ${(await startTime(process.pid)) ?? '-'} ${JSON.stringify(record)}`
}

export function readOwner(text: string): Owner {
  const [, pid, started, rest] = /^(\d+) (\S*)(?: (.*))?$/s.exec(text) ?? []
  if (pid === undefined || started === undefined) return { kind: 'unreadable', text }
  if (rest === undefined) return { kind: 'old', pid, started, text }
  try {
    const record = schema.safeParse(JSON.parse(rest))
    return record.success ? { kind: 'known', pid, text, ...record.data } : { kind: 'unreadable', text }
  } catch {
    return { kind: 'unreadable', text }
  }
}

/** Creates the file, so that two machines cannot both do it, and returns false when it exists. Durable when it returns. */
export async function createOwnerFile(file: string, text: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** True when a process with this number runs here and began at this time. Says nothing about other containers. */
export async function runsHere(pid: string, started: string): Promise<boolean> {
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const now = await startTime(Number(pid))
  return started === '' || now === undefined || now === started
}

/** Returns field 22 of /proc/PID/stat; undefined where there is no /proc. */
async function startTime(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}
