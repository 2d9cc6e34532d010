// `npm run check`: checks the packages that are installed in the CRMs (crm/), as far as possible without HubSpot's and
// Salesforce's own tools. Usage: `node scripts/check-crm.mjs [folder]`. Tests pass a folder with a broken package.

import { join, resolve } from 'node:path'
import { checkHubspot } from '../crm/check/hubspot.mjs'
import { checkSalesforce } from '../crm/check/salesforce.mjs'
import { root } from './runtime.mjs'

const folder = resolve(process.argv[2] ?? join(root, 'crm'))
const problems = [
  ...checkHubspot(join(folder, 'hubspot')).map((it) => `hubspot/${it}`),
  ...checkSalesforce(join(folder, 'salesforce')).map((it) => `salesforce/${it}`),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
