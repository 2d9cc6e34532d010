// `npm run check:crm`: checks the packages that are installed in the CRMs (crm/): by our own rules, and with the tools of
// HubSpot and Salesforce. Usage: `node scripts/check-crm.mjs [folder] [--own-rules | --platform-tools]`. Tests pass a folder
// with a broken package.

import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkHubspot } from '../crm/check/hubspot.mjs'
import { checkWithHubspotTools } from '../crm/check/platform/hubspot.mjs'
import { checkWithSalesforceTools } from '../crm/check/platform/salesforce.mjs'
import { ToolsMissing } from '../crm/check/platform/tools.mjs'
import { checkSalesforce } from '../crm/check/salesforce.mjs'
import { root } from './runtime.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'own-rules': { type: 'boolean' }, 'platform-tools': { type: 'boolean' } },
})
const folder = resolve(positionals[0] ?? join(root, 'crm'))
const packages = [
  { name: 'hubspot', own: checkHubspot, platform: checkWithHubspotTools },
  { name: 'salesforce', own: checkSalesforce, platform: checkWithSalesforceTools },
]

for (const { name, own, platform } of packages) {
  const problems = values['platform-tools'] ? [] : [...own(join(folder, name))]
  if (!values['own-rules']) problems.push(...(await withTools(name, () => platform(join(folder, name)))))
  for (const problem of problems) console.error(`${name}/${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

// Without a registry the check says what it did not do. In CI that is a failure: there the tools have to run.
async function withTools(name, check) {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof ToolsMissing)) throw error
    const missing = `NOT checked with the platform's own tools, which could not be installed: ${error.message}`
    if (process.env.CI) return [`package.json: ${missing}`]
    console.error(`crm: ${name} was ${missing}`)
    return []
  }
}
