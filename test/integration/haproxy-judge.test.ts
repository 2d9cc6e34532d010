import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startHaproxy } from '../../bench/haproxy-judge.ts'
import { findProgram, type JudgeLimit } from '../../bench/judge.ts'

const haproxy = findProgram('haproxy')
if (haproxy === undefined) console.warn('skipped: HAProxy is not installed, so its estimate judges nothing')

test.skipIf(haproxy === undefined)(
  'HAProxy judges by its estimate of the last second, and its log is counted',
  async () => {
    const service = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
    await once(service, 'listening')
    onTestFinished(() => void service.close())
    const limit: JudgeLimit = { id: 'three', rules: [{ kind: 'http_req_rate', perSecond: 3 }] }
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const judge = await startHaproxy(haproxy!, url, [limit])
    onTestFinished(() => judge.stop())
    await judge.begin(limit.id, 0)

    const send = async (path: string) => (await fetch(`${judge.url}/${path}`, { method: 'POST' })).status
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('three')))
    expect(answers.filter((status) => status === 200)).toHaveLength(3)
    expect(answers.filter((status) => status === 429)).toHaveLength(7)
    expect(await send('elsewhere')).toBe(200)

    // The log comes by a pipe, after the answers.
    await vi.waitFor(async () => {
      const [phase] = await judge.phases(limit)
      expect(phase).toMatchObject({ windows: [{ admitted: 3, refused: 7 }], limits: [3] })
    })
  },
)
