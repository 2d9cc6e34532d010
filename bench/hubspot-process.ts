import { startHubspotStandIn } from '../src/sandbox/hubspot/index.ts'

/** The HubSpot stand-in with so many contacts as a process of its own; it ends with its standard input. */
const contacts = Number(process.argv[2])
const roomy = { searchPerSecond: 1_000_000, perTenSeconds: 1_000_000, perDay: 10_000_000 }
const standIn = await startHubspotStandIn({ companies: 0, contacts, limits: roomy })
process.stdin.on('end', () => void standIn.stop().then(() => process.exit(0))).resume()
process.stdout.write(`${JSON.stringify({ baseUrl: standIn.baseUrl, token: standIn.token })}\n`)
