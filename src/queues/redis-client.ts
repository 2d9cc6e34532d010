import type { Cluster, Redis } from 'ioredis'

/** One server, a master that Sentinel names, or a cluster. Every key of one command must begin with the same prefix. */
export type RedisClient = Redis | Cluster
