import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { openRedis } from '../../src/queues/connection.ts'
import { createPacers } from '../../src/queues/pacers.ts'
import { createQueues } from '../../src/queues/queues.ts'
import { createScheduleQueue } from '../../src/queues/schedules.ts'
import { freePort } from '../support/free-port.ts'
import { accepts, onPath, serverOf } from '../faults/servers.ts'

// Needs redis-server with TLS, redis-cli and openssl.
const missing = ['redis-server', 'redis-cli', 'openssl'].find((name) => onPath(name) === undefined)
if (missing !== undefined) process.stderr.write(`redis-tls-acl: left out, ${missing} is not installed\n`)

test.skipIf(missing !== undefined)(
  'queues, schedules and pacer work over TLS with a client certificate, and with the rights of users.acl alone',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'paydirt-tls-'))
    const at = (name: string) => join(folder, name)
    const openssl = (...args: string[]) => expect(spawnSync('openssl', args, { cwd: folder }).status).toBe(0)
    openssl(...'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem'.split(' '))
    await writeFile(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1')
    for (const name of ['server', 'client']) {
      const made = `req -newkey rsa:2048 -nodes -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`
      const signed = `x509 -req -days 2 -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out ${name}.pem`
      openssl(...made.split(' '))
      openssl(...signed.split(' '))
    }
    const rules = await readFile(join(import.meta.dirname, '../../deploy/redis/users.acl'), 'utf8')
    await writeFile(at('users.acl'), `${rules}user judge on >judge ~* &* +@all\n`)
    const port = await freePort()
    const tls = `--tls-port ${port} --port 0 --tls-auth-clients yes --tls-cert-file server.pem --tls-key-file server.key --tls-ca-cert-file ca.pem --aclfile users.acl`
    const server = await serverOf({
      url: `rediss://paydirt:CHANGE-ME@localhost:${port}`,
      folder,
      spawn: () => spawn('redis-server', tls.split(' '), { cwd: folder, stdio: 'ignore' }),
      isReady: () => accepts(port),
      killSignal: 'SIGKILL',
    })
    const files = { caFile: at('ca.pem'), certFile: at('client.pem'), keyFile: at('client.key') }
    await expect(openRedis(server.url, { caFile: files.caFile })).rejects.toThrow(/no Redis at localhost/)
    const { redis, close } = await openRedis(server.url, files)
    const errors: string[] = []
    const onError = (error: Error) => void errors.push(error.message)
    const queues = createQueues(redis, { prefix: 'paydirt', onError })
    const schedules = createScheduleQueue(redis, { prefix: 'paydirt', onError })
    const seen = new Map<string, number>()
    const worker = queues.workLookups('hot', 2, async (key, starts) => {
      seen.set(key, starts)
      return starts === 1 ? { againInMs: 1 } : undefined
    })
    const keys = ['company.lookup|one.test', 'company.lookup|two.test'] as LookupKey[]
    await queues.addLookups('background', keys)
    await queues.hurryLookups(keys)
    const inBlocks = ['company.lookup|three.test', 'company.lookup|four.test'] as LookupKey[]
    const blocks = queues.workLookups('background', 2, async (key, starts) => {
      seen.set(key, starts)
      return starts === 1 ? { againInMs: 1 } : undefined
    })
    await queues.addLookups('background', inBlocks, 1_000)
    await queues.countLookups('background')
    await schedules.setSchedulers([{ name: 'nightly', cron: '* * * * *', timeZone: 'UTC' } as never])
    await queues.addWriteBack({ connector: 'hubspot', entity: 'companies' } as never)
    const pacers = createPacers(redis, { host: 'data.test', access: 'paid', prefix: 'paydirt' })
    expect(await pacers.lookup.take({ lane: 'hot', maxWaitMs: 5_000 })).toMatchObject({ granted: true })
    await pacers.lookup.snapshot()
    await expect.poll(() => [...seen.values()], { timeout: 60_000 }).toEqual([2, 2, 2, 2])
    await worker.close(1_000)
    await blocks.close(1_000)
    await expect(redis.flushall()).rejects.toThrow(/NOPERM/)
    await expect(redis.get('other:key')).rejects.toThrow(/NOPERM/)
    await queues.close()
    await schedules.close()
    await close()
    const cli = `--tls --cacert ca.pem --cert client.pem --key client.key -h localhost -p ${port} --user judge --pass judge --no-auth-warning --raw acl log`
    const log = spawnSync('redis-cli', cli.split(' '), { cwd: folder, encoding: 'utf8' }).stdout
    const refused = [...log.matchAll(/^object\n(.*)$/gm)].map(([, object]) => object)
    expect(refused.sort()).toEqual(['flushall', 'other:key'])
    expect(errors).toEqual([])
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  },
)
