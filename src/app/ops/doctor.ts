import { privateKeyToAccount } from 'viem/accounts'
import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError, describeError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { capsOf, coverOf, coverText, stepPrices } from '../../domain/planning/prices.ts'
import { createChain } from '../../pay/chain/chain.ts'
import { openRedis } from '../../queues/connection.ts'
import type { Config } from '../config/config.ts'
import { mistakenCredentials } from '../config/unknown-variables.ts'
import type { Connector, ConnectorProblem } from '../../connectors/connector.ts'
import { crmNames, type CrmName } from '../../connectors/definitions.ts'
import { isConfigured, openConnector } from '../context/connectors.ts'
import { assertReachable } from '../context/assert-reachable.ts'
import { optionalCodes } from '../runs/sync.ts'
import { isInUse, queryLedger } from '../queries/query-ledger.ts'
import type { Finding } from './finding.ts'
import { actionFindings } from './action-findings.ts'
import { capFindings } from './cap-findings.ts'
import { checkDatabase } from './database-findings.ts'
import { contractFindings } from './contract-findings.ts'
import { indexFindings } from './index-findings.ts'
import { hasLists, listFindings, listsWithoutCrm } from './list-findings.ts'
import { checkMonitors } from './monitor-findings.ts'
import { noteFindings } from './note-findings.ts'
import { paceFindings } from './pace-findings.ts'
import { retentionFindings } from './retention-findings.ts'
import { checkStandby } from './standby-finding.ts'
import { recipeFindings, scheduleFindings } from './recipe-findings.ts'

type Check = (config: Config) => Promise<Finding[]>

/** Checks everything that Paydirt depends on, in turn. Buys and writes nothing. Never throws. */
export async function* examine(config: Config): AsyncGenerator<Finding> {
  const checks: [string, Check][] = [
    ['database', checkDatabase],
    ['standby', checkStandby],
    ['caps', async (settings) => capFindings(settings)],
    ['redis', checkRedis],
    ['service', checkService],
    ['contract', checkContract],
    ['monitors', checkMonitors],
    ['logos', checkLogos],
    ['chain', checkChain],
    ['wallet', checkWallet],
    ...crmNames.map((name): [string, Check] => [name, (settings) => checkCrm(settings, name)]),
  ]
  // A look at a database from another machine must not migrate it.
  const untouched: Config = { ...config, migratedBy: 'nobody' }
  for (const [name, check] of checks) {
    try {
      yield* await check(untouched)
    } catch (error) {
      if (error instanceof ConfigError && error.code === errorCode.schemaBehind) {
        // The checks that read the ledger fail with it too; once is enough.
        if (name !== 'database') continue
        const makesItself = error.details['isEmpty'] === true && config.migratedBy === 'self'
        yield makesItself
          ? { name, status: 'ok', message: error.message }
          : {
              name,
              status: 'warning',
              message: error.message,
              todo: 'run `paydirt migrate`, then this again',
            }
        continue
      }
      yield {
        name,
        status: 'problem',
        message: describeError(error),
        todo: 'fix what the message names, and run this again',
      }
    }
  }
}

async function checkRedis(config: Config): Promise<Finding[]> {
  if (config.redisUrl === undefined)
    return [{ name: 'redis', status: 'ok', message: 'Valkey inside the process (REDIS_URL is not set)' }]
  const connection = await openRedis(config.redisUrl, config.redisAccess)
  try {
    const policy = await connection.redis.config('GET', 'maxmemory-policy').catch(() => [])
    const [, value] = policy as string[]
    if (value !== undefined && value !== 'noeviction') {
      return [
        {
          name: 'redis',
          status: 'warning',
          message: `its maxmemory-policy is ${value}: jobs may be evicted`,
          todo: 'set maxmemory-policy to noeviction',
        },
      ]
    }
    return [{ name: 'redis', status: 'ok', message: 'answers' }]
  } finally {
    await connection.close()
  }
}

async function checkService(config: Config): Promise<Finding[]> {
  if (config.serviceUrl === undefined) {
    return [
      {
        name: 'service',
        status: 'problem',
        message: 'PAYDIRT_SERVICE_URL is not set',
        todo: 'set it to the base address of the data service',
      },
    ]
  }
  await assertReachable('the data service (PAYDIRT_SERVICE_URL)', config.serviceUrl)
  return [{ name: 'service', status: 'ok', message: `${new URL(config.serviceUrl).origin} answers` }]
}

/** A ledger that cannot be asked is a finding of its own. */
async function checkContract(config: Config): Promise<Finding[]> {
  try {
    const { operations, actions, indexes, retention, paces } = await queryLedger(config, 'serviceState', {})
    return [
      ...contractFindings(operations),
      ...actionFindings(actions),
      ...indexFindings(indexes, new Date()),
      ...retentionFindings(retention, new Date()),
      ...paceFindings(paces),
    ]
  } catch (error) {
    if (!isInUse(error)) throw error
    return []
  }
}

async function checkLogos(config: Config): Promise<Finding[]> {
  if (config.logoUrl === undefined)
    return [{ name: 'logos', status: 'off', message: 'PAYDIRT_LOGO_URL is not set: no logos are fetched' }]
  await assertReachable('the logo endpoint (PAYDIRT_LOGO_URL)', config.logoUrl)
  return [{ name: 'logos', status: 'ok', message: `${new URL(config.logoUrl).origin} answers` }]
}

const unusedNonce = `0x${'00'.repeat(32)}` as const

async function checkChain(config: Config): Promise<Finding[]> {
  if (config.walletKey === undefined) return []
  const chain = createChain({ rpcUrl: config.rpcUrl, asset: config.policy.asset })
  const expected = Number(config.policy.network.split(':')[1])
  const id = await chain.chainId()
  if (id !== expected) {
    return [
      {
        name: 'chain',
        status: 'problem',
        message: `the RPC serves chain ${id}, payments settle on ${expected}`,
        todo: 'set PAYDIRT_RPC_URL to a node of the right chain',
      },
    ]
  }
  const { address } = privateKeyToAccount(config.walletKey)
  try {
    // Asked as a payment in doubt is; nobody has used this nonce.
    await chain.fate({ payer: address, nonce: unusedNonce, validBefore: 0 })
  } catch (error) {
    return [
      {
        name: 'chain',
        status: 'problem',
        message: `chain ${id} answers, but not what became of a payment: ${describeError(error)}`,
        todo: 'set PAYDIRT_RPC_URL to a node that knows the finalized block and answers eth_call at a block hash (EIP-1898); with this one, payments in doubt stay in doubt',
      },
    ]
  }
  return [{ name: 'chain', status: 'ok', message: `chain ${id} answers` }]
}

async function checkWallet(config: Config): Promise<Finding[]> {
  if (config.walletKey === undefined) {
    if (config.apiKey)
      return [{ name: 'wallet', status: 'off', message: 'direct access by API key: no wallet is needed' }]
    return [
      {
        name: 'wallet',
        status: 'problem',
        message: 'there is no wallet',
        todo: 'make one with `paydirt wallet new`, or set PAYDIRT_WALLET_KEY',
      },
    ]
  }
  const { address } = privateKeyToAccount(config.walletKey)
  const balance = await createChain({ rpcUrl: config.rpcUrl, asset: config.policy.asset }).balanceOf(address)
  const cover = coverOf(balance, stepPrices(config.prices, capsOf(config.policy)))
  const message = `${address} holds ${formatUsd(balance)} USDC, ${coverText(cover)}`
  return [
    cover && cover.cheapest.lookups > 0n
      ? { name: 'wallet', status: 'ok', message }
      : {
          name: 'wallet',
          status: 'problem',
          message,
          todo: cover ? 'send it USDC on Base' : 'raise PAYDIRT_MAX_PRICE_USD',
        },
  ]
}

async function checkCrm(config: Config, name: CrmName): Promise<Finding[]> {
  if (!isConfigured(config, name)) {
    const mistaken = mistakenCredentials(name)
    return [
      { name, status: 'off', message: `no credentials are set${mistaken === '' ? '' : `. ${mistaken}`}` },
      ...listsWithoutCrm(config, name),
    ]
  }
  const connector = await openConnector(config, name, undefined)
  try {
    const { account, apiVersion, missingScopes, problems } = await connector.check()
    const findings: Finding[] = problems.map(({ code, message, todo }) => ({
      name,
      status: optionalCodes.has(code) ? 'warning' : 'problem',
      message,
      todo,
    }))
    if (missingScopes.length > 0) {
      findings.push({
        name,
        status: 'problem',
        message: `the token lacks ${missingScopes.join(', ')}`,
        todo: 'grant these scopes to the app and use its new token',
      })
    }
    if (findings.some(({ status }) => status === 'problem')) return findings
    findings.push({
      name,
      status: 'ok',
      message: `account ${account?.id ?? '?'}${account?.name ? ` (${account.name})` : ''}, API ${apiVersion}`,
    })
    const quota = await connector.quota()
    if (quota)
      findings.push({
        name,
        status: quota.used < quota.limit * 0.9 ? 'ok' : 'warning',
        message: `${quota.used} of ${quota.limit} API calls used today`,
      })
    findings.push(...(await ownFieldFindings(connector, problems)))
    findings.push(...(await recipeFindings(config, connector)))
    findings.push(...(await scheduleFindings(config, connector)), ...(await noteFindings(config, connector)))
    if (hasLists(config, name))
      findings.push(...(await listFindings(config, connector, await indexesKnown(config))))
    return findings
  } finally {
    await connector.close()
  }
}

/** Undefined: the ledger is in use by a process that answers no questions. */
async function indexesKnown(config: Config) {
  try {
    return (await queryLedger(config, 'serviceState', {})).indexes
  } catch (error) {
    if (!isInUse(error)) throw error
    return undefined
  }
}

/** Fields of ours that the check has not named already: each fact is reported once. */
async function ownFieldFindings(
  connector: Connector,
  problems: readonly ConnectorProblem[],
): Promise<Finding[]> {
  const named = new Set(problems.flatMap(({ fields }) => fields ?? []))
  const findings: Finding[] = []
  for (const entity of Object.keys(connector.entities)) {
    for (const field of await connector.ensureFields(entity, { dryRun: true })) {
      if (field.status === 'exists' || named.has(`${entity}.${field.name}`)) continue
      findings.push({
        name: connector.name as CrmName,
        status: field.status === 'conflict' ? 'problem' : 'warning',
        message: `${entity}.${field.name}: ${field.reason ?? 'does not exist yet'}`,
        todo:
          field.status === 'conflict'
            ? 'rename or remove the field, or map to another'
            : field.status === 'would_create'
              ? 'nothing: the first sync creates it'
              : 'optional: create it by hand',
      })
    }
  }
  return findings
}
