import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { findNginx, startNginx } from '../../bench/nginx-judge.ts'

const nginx = findNginx()
if (nginx === undefined) console.warn('skipped: nginx is not installed, so its limit_req judges nothing')

test.skipIf(nginx === undefined)('nginx judges by its own limit, and its log is counted', async () => {
  const service = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
  await once(service, 'listening')
  onTestFinished(() => void service.close())
  const limit = { id: 'one-a-second', perSecond: 1, burst: 2 }
  const judge = await startNginx(nginx!, `http://127.0.0.1:${(service.address() as AddressInfo).port}`, [
    limit,
  ])
  onTestFinished(() => judge.stop())

  const answers = await Promise.all(
    Array.from({ length: 10 }, () => fetch(`${judge.url}/one-a-second`, { method: 'POST', body: '{}' })),
  )

  // nginx writes its log after the answer; once it takes up another request, all lines before are written.
  await fetch(`${judge.url}/elsewhere`)

  // One by the rate and two by the burst.
  const served = answers.filter(({ status }) => status === 200).length
  expect(served).toBe(3)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(7)
  const { windows, limits, arrivalsMs } = await judge.phase(limit)
  expect(windows).toEqual([{ admitted: 3, refused: 7 }])
  expect(limits).toEqual([1])
  expect(arrivalsMs).toHaveLength(10)
})
