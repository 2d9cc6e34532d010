import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { lockDataDir } from './data-dir-lock.ts'
import { createOwnerFile, ownerText, readOwner } from './owner-record.ts'
import { whereaboutsOf, type Whereabouts } from './whereabouts.ts'

let dir: string
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), 'paydirt-lock-'))))
afterEach(async () => {
  vi.useRealTimers()
  await rm(dir, { recursive: true, force: true })
})

const mine = new RegExp(`^${process.pid} `)
const ownerFile = () => join(dir, 'owner')
const owner = () => readFile(ownerFile(), 'utf8').catch(() => undefined)
const here: Whereabouts = { host: 'here', boot: 'boot-1', fileSystem: 'local' }

/** Leaves the traces of a process that was killed here: an owner record and no lock. */
async function leftBy(where: Whereabouts, lockFile?: string): Promise<string> {
  await (await lockDataDir(dir, where)).release()
  const text = await ownerText(where, lockFile ?? String((await stat(join(dir, 'lock'))).ino))
  expect(await createOwnerFile(ownerFile(), text)).toBe(true)
  return text
}

/** A process that has locked the directory and waits. */
async function neighbour() {
  const program = `
    import { lockDataDir } from ${JSON.stringify(join(import.meta.dirname, 'data-dir-lock.ts'))}
    await lockDataDir(${JSON.stringify(dir)})
    console.log('locked')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

describe('a data directory', () => {
  test('belongs to its first process, which is named, until that releases it', async () => {
    const lock = await lockDataDir(dir)
    expect(await owner()).toMatch(mine)
    expect((await stat(join(dir, 'lock'))).mode & 0o777).toBe(0o600)
    await expect(lockDataDir(dir)).rejects.toMatchObject({ code: 'data_dir_in_use' })
    lock.assertHeld()
    await lock.release()
    expect(await owner()).toBeUndefined()
    await (await lockDataDir(dir)).release()
  })

  test('of a living process is refused, also while that is suspended and without its owner file; of a killed one it is taken over', async () => {
    const child = await neighbour()
    const ended = once(child, 'exit')
    try {
      const refused = { name: 'ConfigError', code: 'data_dir_in_use' }
      await expect(lockDataDir(dir)).rejects.toMatchObject({
        ...refused,
        message: expect.stringMatching(new RegExp(`\\(${child.pid} on .+\\) uses ${dir}`)),
      })
      child.kill('SIGSTOP')
      await utimes(ownerFile(), 0, 0)
      await expect(lockDataDir(dir)).rejects.toMatchObject(refused)
      await rm(ownerFile())
      await expect(lockDataDir(dir)).rejects.toMatchObject(refused)
      await writeFile(ownerFile(), '')
    } finally {
      child.kill('SIGKILL')
      await ended
    }
    const lock = await lockDataDir(dir)
    expect(await owner()).toMatch(mine)
    await lock.release()
  })

  test('of a killed process of this kernel is taken over at once, whatever container it was in', async () => {
    await leftBy({ ...here, host: 'container-7' })
    const lock = await lockDataDir(dir, { ...here, host: 'container-8' })
    expect(readOwner((await owner()) ?? '')).toMatchObject({ kind: 'known', host: 'container-8' })
    await lock.release()
  })

  test('is taken over after the machine has restarted', async () => {
    await leftBy(here)
    const lock = await lockDataDir(dir, { ...here, boot: 'boot-2' })
    expect(readOwner((await owner()) ?? '')).toMatchObject({ kind: 'known', boot: 'boot-2' })
    await lock.release()
  })

  test.each<[what: string, left: Whereabouts, next: Whereabouts]>([
    [
      'another machine on a shared file system',
      { host: 'a', boot: 'boot-1', fileSystem: 'shared' },
      { host: 'b', boot: 'boot-2', fileSystem: 'shared' },
    ],
    [
      'a virtual machine with which the host shares the directory',
      { host: 'guest', boot: 'boot-1', fileSystem: 'shared' },
      { host: 'host', boot: 'boot-2', fileSystem: 'local' },
    ],
    [
      'the host, seen from its virtual machine',
      { host: 'host', boot: 'boot-1', fileSystem: 'local' },
      { host: 'guest', boot: 'boot-2', fileSystem: 'shared' },
    ],
  ])('of %s is never taken over, and a person is told what to do', async (_, left, next) => {
    const text = await leftBy(left)
    await expect(lockDataDir(dir, next)).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'data_dir_owner_unknown',
      message: expect.stringContaining(`${process.pid} on ${left.host}`),
    })
    expect(await owner()).toBe(text)
    await rm(ownerFile())
    await (await lockDataDir(dir, next)).release()
  })

  test('whose lock file was deleted while it was in use is not taken over', async () => {
    await leftBy(here, '1')
    await expect(lockDataDir(dir, here)).rejects.toMatchObject({ code: 'data_dir_owner_unknown' })
  })

  test.runIf(process.platform === 'linux')(
    'of a process of the version before is taken over by a person alone',
    async () => {
      for (const text of [`${process.pid} `, '999999999 5', '7 123']) {
        await writeFile(ownerFile(), text)
        await expect(lockDataDir(dir)).rejects.toMatchObject({
          name: 'ConfigError',
          code: text.startsWith(`${process.pid} `) ? 'data_dir_in_use' : 'data_dir_owner_unknown',
        })
      }
    },
  )

  test.each(['', 'garbage', '-1 5', '0x1 5', '1 2 {', '1 2 {"id":1}'])(
    'whose owner file has %j, cut off by a power failure, is taken over on a local file system alone',
    async (text) => {
      await writeFile(ownerFile(), text)
      await expect(lockDataDir(dir, { ...here, fileSystem: 'shared' })).rejects.toMatchObject({
        code: 'data_dir_owner_unknown',
      })
      await (await lockDataDir(dir, here)).release()
    },
  )

  test('shows the version before a living process', async () => {
    const lock = await lockDataDir(dir)
    const [pid, started] = ((await owner()) ?? '').split(' ')
    expect(Number(pid)).toBe(process.pid)
    if (process.platform === 'linux') expect(started).toMatch(/^\d+$/)
    await lock.release()
  })
})

describe('a holder', () => {
  /** Another process takes the directory, as after a person has deleted the file of a machine that sleeps. */
  async function taken() {
    const lock = await lockDataDir(dir, here)
    await writeFile(ownerFile(), await ownerText({ ...here, host: 'other' }, '1'))
    return lock
  }

  test.each([
    ['woke up: the wall clock is far ahead, and the monotonic one stood still', 3_600_000],
    ['whose clock was set back', -3_600_000],
  ])('that %s finds another owner before it uses the database', async (_, jumpMs) => {
    const lock = await taken()
    lock.assertHeld()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jumpMs })
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: 'data_dir_lost' }))
    // And for good.
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: 'data_dir_lost' }))
    const other = await owner()
    await lock.release()
    expect(await owner()).toBe(other)
  })

  test('whose clock jumps and who is still the owner goes on', async () => {
    const lock = await lockDataDir(dir, here)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    expect(() => lock.assertHeld()).not.toThrow()
    vi.setSystemTime(0)
    expect(() => lock.assertHeld()).not.toThrow()
    await lock.release()
  })
})

test('this machine says where it is', async () => {
  const where = await whereaboutsOf(dir)
  expect(where.boot).not.toBe('')
  expect(await whereaboutsOf(dir)).toEqual(where)
})
