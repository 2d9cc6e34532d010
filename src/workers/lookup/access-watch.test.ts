import { beforeEach, describe, expect, test } from 'vitest'
import { AccessRefusedError, FatalError, RetriableError } from '../../domain/errors.ts'
import { lookupKey, type LookupKey } from '../../domain/keys.ts'
import { createAccessWatch, type AccessWatch } from './access-watch.ts'

const keyOf = (name: string) => lookupKey('company.profile', `profnet.example/company/${name}`)
const forbidden = new AccessRefusedError('forbidden', 'the service refuses access (403)', {
  details: { status: 403 },
})

let nowMs: number
let watch: AccessWatch['watch']
let sent: LookupKey[]

beforeEach(() => {
  nowMs = Date.UTC(2026, 4, 1)
  ;({ watch } = createAccessWatch({ now: () => new Date(nowMs) }))
  sent = []
})

/** Returns how a try of a lookup ends. */
async function attempt(name: string, isRefused: boolean, endpoint = 'company.profile') {
  const request = async () => {
    sent.push(keyOf(name))
    if (isRefused) throw forbidden
  }
  return watch(endpoint, keyOf(name), request).then(
    () => 'answered',
    (error: Error & { code: string }) => error.code,
  )
}
const refused = (name: string, endpoint?: string) => attempt(name, true, endpoint)
const answered = (name: string, endpoint?: string) => attempt(name, false, endpoint)

/** Tries a refused lookup until it is decided. */
async function decided(name: string, most = 10): Promise<string> {
  for (let tries = 0; tries < most; tries += 1) {
    const end = await refused(name)
    if (end !== 'access_undecided') return end
    nowMs += 1_000
  }
  return 'never'
}

describe('a lookup that is refused', () => {
  test('ends alone when another one is answered after it, and is sent once', async () => {
    expect(await refused('poison')).toBe('access_undecided')
    await answered('other')
    expect(await refused('poison')).toBe('access_refused')
    expect(sent).toEqual([keyOf('poison'), keyOf('other')])
  })

  test('names its status, and says that it waits meanwhile', async () => {
    const poison = keyOf('poison')
    const fail = async () => Promise.reject(forbidden)
    await expect(watch('e', poison, fail)).rejects.toMatchObject({
      name: 'RetriableError',
      countsAsTry: false,
      retryAfterMs: 500,
      message: expect.stringContaining('(403)'),
    })
    await watch('e', keyOf('other'), async () => {})
    await expect(watch('e', poison, fail)).rejects.toMatchObject({
      name: 'FatalError',
      message: expect.stringContaining('answers 403 to this lookup and not to others'),
      details: { status: 403 },
    })
  })

  test('ends alone when it is the last, after others were answered', async () => {
    await answered('other')
    expect(await decided('poison')).toBe('access_refused')
    expect(sent).toHaveLength(2)
  })

  test('stops the run when it is the only one', async () => {
    expect(await decided('only')).toBe('forbidden')
    expect(sent).toHaveLength(1)
  })

  test('stops the run when the last answer was long ago', async () => {
    await answered('other')
    nowMs += 11 * 60_000
    expect(await decided('later')).toBe('forbidden')
  })

  test('is not judged by another endpoint', async () => {
    expect(await refused('poison', 'company.enrich')).toBe('access_undecided')
    await answered('other', 'company.profile')
    expect(await refused('poison', 'company.enrich')).toBe('access_undecided')
  })

  test('is sent again when it is asked for after its decision', async () => {
    await answered('other')
    await decided('poison')
    expect(await answered('poison')).toBe('answered')
  })

  test('waits for another that is under way, for two minutes at most', async () => {
    let finish = () => {}
    const slow = watch(
      'company.profile',
      keyOf('slow'),
      () => new Promise<void>((resolve) => (finish = resolve)),
    )
    for (let looks = 0; looks < 20; looks += 1) expect(await refused('poison')).toBe('access_undecided')
    finish()
    await slow
    expect(await refused('poison')).toBe('access_refused')
    void watch('company.profile', keyOf('never'), () => new Promise<void>(() => {})).catch(() => {})
    expect(await refused('again')).toBe('access_undecided')
    nowMs += 121_000
    expect(await decided('again')).toBe('access_refused')
  })
})

describe('several in a row', () => {
  test('stop the run at the third, when nothing was answered', async () => {
    expect(await refused('a')).toBe('access_undecided')
    expect(await refused('b')).toBe('access_undecided')
    expect(await refused('c')).toBe('forbidden')
    expect(await refused('a')).toBe('forbidden')
  })

  test('stop it at the twentieth, when some were answered before', async () => {
    await answered('other')
    for (let at = 1; at < 20; at += 1) expect(await refused(`n${at}`)).toBe('access_undecided')
    expect(await refused('n20')).toBe('forbidden')
  })

  test('do not stop it when others are answered in between', async () => {
    for (let at = 0; at < 30; at += 1) {
      expect(await refused(`n${at}`)).toBe('access_undecided')
      await answered(`other ${at}`)
    }
    for (let at = 0; at < 30; at += 1) expect(await refused(`n${at}`)).toBe('access_refused')
  })
})

test('other errors pass as they are, and show nothing', async () => {
  const timeout = new RetriableError('timeout', 'no answer')
  await expect(watch('e', keyOf('a'), () => Promise.reject(timeout))).rejects.toBe(timeout)
  expect(await refused('only', 'e')).toBe('access_undecided')
})

describe('a lookup that the credits do not cover', () => {
  const overQuota = new FatalError('over_quota', 'the quota is exceeded (41691)', {
    details: { status: 416, code: 41691 },
  })
  const attempt = (name: string) =>
    watch('company.profile', keyOf(name), () => Promise.reject(overQuota)).catch((error: unknown) => error)

  test('stops the run when others are not covered either', async () => {
    await attempt('one')
    await attempt('two')
    expect(await attempt('three')).toMatchObject({
      name: 'AccessRefusedError',
      code: 'over_quota',
      message: expect.stringMatching(/credits.*used up \(416, code 41691\)/),
    })
  })

  test('ends alone, with what the service said, when another one is answered after it', async () => {
    expect(await attempt('dear')).toBeInstanceOf(RetriableError)
    await answered('other')
    expect(await attempt('dear')).toBe(overQuota)
  })
})
