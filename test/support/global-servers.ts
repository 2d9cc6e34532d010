import { missingServers, startPostgres, startRedis } from '../faults/servers.ts'

/** Starts the system's own servers for the whole suite where DATABASE_URL and REDIS_URL name none. */
export default async function startServers() {
  if (process.env['DATABASE_URL'] && process.env['REDIS_URL']) return
  const missing = missingServers()
  if (missing !== undefined) {
    console.error(`test:faults: ${missing}; the faults that need real servers are left out`)
    return
  }
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  process.env['DATABASE_URL'] = postgres.url
  process.env['REDIS_URL'] = redis.url
  return () => Promise.all([postgres.stop(), redis.stop()])
}
