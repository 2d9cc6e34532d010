import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const script = join(import.meta.dirname, '../../scripts/check-migrations.mjs')

const judgeFrom = (first: string) =>
  spawnSync(process.execPath, [script, first], { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } })

describe('the judge of migrations', () => {
  it('refuses an index that blocks writers, as the tenth migration builds four', () => {
    const { status, stdout } = judgeFrom('0010')
    expect(stdout).toContain('require-concurrent-index-creation')
    expect(status).toBe(1)
  })

  it('accepts a new table', () => {
    expect(judgeFrom('0011')).toMatchObject({ status: 0, stderr: '' })
  })
})
