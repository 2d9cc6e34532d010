import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

interface Lock {
  packages: Record<string, { engines?: { node?: string } }>
}

test('the README names the warnings of npm on the oldest Node that may run it', async () => {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as Lock
  const wantNewer = Object.entries(packages).filter(([, { engines }]) =>
    /^>= ?2[1-9](\.\d+)*$/.test(engines?.node ?? ''),
  )
  const readme = await readFile('README.md', 'utf8')
  // Once no package wants a newer one, the sentence must go.
  expect(readme.includes('`EBADENGINE`')).toBe(wantNewer.length > 0)
})
