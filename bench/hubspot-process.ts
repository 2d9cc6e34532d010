import { startHubspotStandIn } from '../src/sandbox/hubspot/index.ts'

/** The HubSpot stand-in with a number of contacts, as a process of its own. It ends when its standard input ends. */
const contacts = Number(process.argv[2])
const roomy = { searchPerSecond: 1_000_000, perTenSeconds: 1_000_000, perDay: 10_000_000 }
const standIn = await startHubspotStandIn({ companies: 0, contacts, limits: roomy })
process.stdin.on('end', () => void standIn.stop().then(() => process.exit(0))).resume()
process.stdout.write(`${JSON.stringify({ baseUrl: standIn.baseUrl, token: standIn.token })}\n`)
