import { z } from 'zod'
import { ofType, setting } from '../../../domain/setting.ts'
import { redisAddress } from '../../../queues/redis-address.ts'
import { databaseAddresses } from '../../../store/database/postgres/addresses.ts'
import { text } from '../variable-types.ts'

/** The variables that say where Postgres and Redis are, and what they ask of us. */
export const storeVariables = {
  DATABASE_URL: setting(
    ofType(
      '`postgres://` URL',
      z.string().refine((url) => databaseAddresses(url) !== undefined, 'is not a postgres:// URL'),
    ),
    {
      means:
        'PostgreSQL in place of the embedded database; [several hosts](operations.md), comma-separated, are a primary and its standbys',
      defaultText: 'PGlite in the data directory',
      example: 'postgres://paydirt@db.example.com/paydirt',
    },
  ),
  DATABASE_READ_URL: setting(
    ofType(
      '`postgres://` URL',
      z.string().refine((url) => databaseAddresses(url) !== undefined, 'is not a postgres:// URL'),
    ),
    {
      means:
        'a standby of `DATABASE_URL`, from which [pages and metrics are read](operations.md#reading-from-a-standby); never what decides about money',
      defaultText: 'everything is read from `DATABASE_URL`',
      example: 'postgres://paydirt@standby.example.com/paydirt',
    },
  ),
  REDIS_URL: setting(
    ofType(
      '`redis://` URL',
      z.string().refine((url) => redisAddress(url) !== undefined, 'is not a redis:// URL'),
    ),
    {
      means:
        'Redis or Valkey in place of the embedded one; `redis+sentinel://` and `redis+cluster://` for [more than one server](operations.md), `rediss` for TLS',
      defaultText: 'Valkey inside the process',
      example: 'redis://redis.example.com:6379',
    },
  ),
  PAYDIRT_REDIS_CA_FILE: setting(text, {
    means: 'certificates of the authority that signed those of Redis, in PEM',
    defaultText: "the system's",
    example: '/etc/paydirt/redis-ca.pem',
  }),
  PAYDIRT_REDIS_CERT_FILE: setting(text, {
    means: 'our certificate for Redis, in PEM',
    example: '/etc/paydirt/redis.pem',
  }),
  PAYDIRT_REDIS_KEY_FILE: setting(text, {
    means: 'its private key, in PEM',
    example: '/etc/paydirt/redis.key',
  }),
  PAYDIRT_REDIS_SENTINEL_PASSWORD: setting(text, {
    isSecret: true,
    means: "the sentinels' password, which is not that of Redis",
  }),
} as const
