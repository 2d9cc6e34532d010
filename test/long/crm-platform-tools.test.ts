import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const lwc = 'salesforce/force-app/main/default/lwc/paydirtEnrich'

// Each is a mistake that a platform's own tool has to find: without it, nothing here would judge the packages from outside.
const mistakes = [
  {
    file: 'hubspot/src/app/actions/selection.ts',
    from: "'./paydirt-client.ts'",
    to: "'../cards/paydirt-client.ts'",
    says: /enrich-selected\.tsx: Could not resolve "\.\.\/cards\/paydirt-client\.ts"/,
  },
  {
    file: 'hubspot/src/app/cards/enrich-card.tsx',
    from: "hubspot.extend<'crm.record.sidebar'>",
    to: '((_view: unknown) => hubspot)',
    says: /enrich-card\.tsx: it registers 0 views/,
  },
  {
    file: 'hubspot/src/app/app-hsmeta.json',
    from: '"type": "app",',
    to: '"type": "app", "color": "red",',
    says: /profile production: .*app-hsmeta\.json.*color/i,
  },
  {
    file: `${lwc}/paydirtEnrich.html`,
    from: '<p>Loading the last result …</p>',
    to: '<p>Loading the last result …',
    says: /paydirtEnrich\.html: .*LWC\d+/,
  },
  {
    file: `${lwc}/paydirtEnrich.js`,
    from: '    // eslint-disable-next-line @lwc/lwc/no-async-operation\n',
    to: '',
    says: /paydirtEnrich\.js: line \d+: Restricted async operation/,
  },
]

test('the tools of HubSpot and Salesforce find what is broken in a copy of the packages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paydirt-crm-'))
  try {
    cpSync(join(root, 'crm'), join(folder, 'crm'), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const { file, from, to } of mistakes) {
      const path = join(folder, 'crm', file)
      const text = readFileSync(path, 'utf8')
      if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)} to break`)
      writeFileSync(
        path,
        text.replace(from, () => to),
      )
    }
    writeFileSync(join(folder, 'crm', dirname(lwc), 'notes.txt'), 'not a component')
    const { status, stderr } = spawnSync(
      process.execPath,
      ['scripts/check-crm.mjs', join(folder, 'crm'), '--platform-tools'],
      { cwd: root, encoding: 'utf8', env: { ...process.env, CI: 'true' } },
    )
    for (const { says } of mistakes) expect(stderr).toMatch(says)
    expect(stderr).toMatch(/lwc\/notes\.txt: it is not deployed/)
    expect(status).toBe(1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
