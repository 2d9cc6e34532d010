import { availableParallelism, cpus, totalmem } from 'node:os'

/** Describes the machine on which the figures were measured. */
export function machine(): { node: string; cpu: string; cores: number; memoryGb: number; date: string } {
  return {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    date: new Date().toISOString().slice(0, 10),
  }
}
