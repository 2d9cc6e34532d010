// `npm run check -- api`: holds docs/api.md against the library's declarations, so that a change of what programs rely on is
// seen in review. `npm run format` does not write it; `node scripts/api-report.mjs --write` does.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { declarations } from './declarations.mjs'
import { root } from './runtime.mjs'

const path = join(root, 'docs/api.md')
// Settings have a reference of their own, docs/configuration.md, which a test holds.
const isSetting = (file) => file.startsWith('app/config/')
const withoutComments = (text) => text.replaceAll(/\/\*[\s\S]*?\*\/\s*/g, '')
const parts = [...declarations()]
  .filter(([file]) => !isSetting(file))
  .map(([file, text]) => `## ${file.replace('.d.ts', '')}\n\n\`\`\`ts\n${withoutComments(text)}\`\`\`\n`)
const head = `# API report

The types of \`import … from 'paydirt'\`, as the package declares them, without comments and without the [settings](configuration.md). Made by \`node scripts/api-report.mjs --write\`; \`npm run check\` fails where it is not current. [library.md](library.md) is the page to read.
`
const options = { ...(await resolveConfig(path)), parser: 'markdown' }
const report = await format([head, ...parts].join('\n'), options)
if (process.argv.includes('--write')) writeFileSync(path, report)
else if (readFileSync(path, 'utf8') !== report) {
  console.error(
    'docs/api.md is not current: run `node scripts/api-report.mjs --write`, and say in CHANGELOG.md what changed',
  )
  process.exitCode = 1
}
