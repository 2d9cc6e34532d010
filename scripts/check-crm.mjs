// `npm run check`: what is installed in the CRMs (crm/), held as far as that goes without HubSpot's and Salesforce's own
// tools. `node scripts/check-crm.mjs [folder]`; another folder than crm/ is one that a test has broken.

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
