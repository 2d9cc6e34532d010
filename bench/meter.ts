import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RedisClient } from '../src/queues/redis-client.ts'

export interface Metered {
  wallMs: number
  /** Processor time of all threads of this process, in milliseconds, including the embedded Redis and PGlite. */
  cpuMs: number
  peakRssMb: number
  /** The largest sample of the second half, which has no start and no compilations in it. */
  laterRssMb: number
  /** The most that Redis held beyond what it held at the start; 0 without Redis. */
  redisPeakBytes: number
  redisPeakMb: number
  /** The most that the folder held, and what it holds at the end; 0 without a folder. */
  folderPeakMb: number
  folderEndMb: number
}

/** Measures the current process from now on. */
export function startMeter({
  redis,
  folder,
}: { redis?: RedisClient | undefined; folder?: string | undefined } = {}): { stop(): Promise<Metered> } {
  const startMs = performance.now()
  const cpu = process.cpuUsage()
  const rss: number[] = []
  let redisStart: number | undefined
  let redisPeak = 0
  let folderPeak = 0
  async function look(): Promise<void> {
    rss.push(process.memoryUsage.rss())
    if (folder !== undefined) folderPeak = Math.max(folderPeak, bytesIn(folder))
    const used = redis && Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
    if (used === undefined) return
    redisStart ??= used
    redisPeak = Math.max(redisPeak, used)
  }
  void look()
  const timer = setInterval(() => void look().catch(() => {}), 500)
  return {
    async stop() {
      clearInterval(timer)
      const { user, system } = process.cpuUsage(cpu)
      await look()
      return {
        wallMs: performance.now() - startMs,
        cpuMs: (user + system) / 1_000,
        peakRssMb: Math.max(...rss) / 1e6,
        laterRssMb: Math.max(...rss.slice(Math.floor(rss.length / 2))) / 1e6,
        redisPeakBytes: redisPeak - (redisStart ?? 0),
        redisPeakMb: redisPeak / 1e6,
        folderPeakMb: folderPeak / 1e6,
        folderEndMb: folder === undefined ? 0 : bytesIn(folder) / 1e6,
      }
    },
  }
}

/** Returns how much the files below a folder hold. */
function bytesIn(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    // A file of the database may go meanwhile.
    bytes += lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}
