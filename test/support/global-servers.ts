import { missingServers, startPostgres, startRedis } from '../faults/servers.ts'

/** Where DATABASE_URL and REDIS_URL name no servers, the system's own are started for the whole suite. */
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
