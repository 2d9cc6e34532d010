import { GenericContainer, Wait } from 'testcontainers'
import type { StartedTestContainer } from 'testcontainers'

const POSTGRES_IMAGE = process.env['PAYDIRT_TEST_POSTGRES_IMAGE'] || 'postgres:17-alpine'
const REDIS_IMAGE = process.env['PAYDIRT_TEST_REDIS_IMAGE'] || 'valkey/valkey:8-alpine'

/** Starts Postgres and Valkey in containers, and points DATABASE_URL and REDIS_URL at them. */
export default async function startContainers() {
  const started: StartedTestContainer[] = []
  const stop = () => Promise.all(started.map((container) => container.stop()))
  try {
    const postgres = await new GenericContainer(POSTGRES_IMAGE)
      .withEnvironment({ POSTGRES_USER: 'paydirt', POSTGRES_PASSWORD: 'paydirt', POSTGRES_DB: 'paydirt' })
      .withTmpFs({ '/var/lib/postgresql/data': 'rw' })
      .withExposedPorts(5432)
      // Its first start initialises, stops, and starts again.
      .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
      .start()
    started.push(postgres)
    const redis = await new GenericContainer(REDIS_IMAGE)
      .withExposedPorts(6379)
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
      .start()
    started.push(redis)
    process.env['DATABASE_URL'] =
      `postgres://paydirt:paydirt@${postgres.getHost()}:${postgres.getMappedPort(5432)}/paydirt`
    process.env['REDIS_URL'] = `redis://${redis.getHost()}:${redis.getMappedPort(6379)}`
  } catch (cause) {
    await stop()
    const why = String(cause instanceof Error ? cause.message : cause)
    console.error(`test:containers needs a running Docker and ${POSTGRES_IMAGE} and ${REDIS_IMAGE}: ${why}`)
    process.exit(1)
  }
  return stop
}
