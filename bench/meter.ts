import type { Redis } from 'ioredis'

export interface Metered {
  wallMs: number
  /** Processor time of all threads of this process, in milliseconds, including the embedded Redis and PGlite. */
  cpuMs: number
  peakRssMb: number
  /** The most that Redis held beyond what it held at the start; 0 without Redis. */
  redisPeakBytes: number
  redisPeakMb: number
}

/** Measures the current process from now on. */
export function startMeter(redis?: Redis): { stop(): Promise<Metered> } {
  const startMs = performance.now()
  const cpu = process.cpuUsage()
  let peakRss = 0
  let redisStart: number | undefined
  let redisPeak = 0
  async function look(): Promise<void> {
    peakRss = Math.max(peakRss, process.memoryUsage.rss())
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
        peakRssMb: peakRss / 1e6,
        redisPeakBytes: redisPeak - (redisStart ?? 0),
        redisPeakMb: redisPeak / 1e6,
      }
    },
  }
}
