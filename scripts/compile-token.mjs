// Recompiles the contracts of the sandbox's chain after a change of their source: `node scripts/compile-token.mjs`. The
// compiler is large and only this script needs it, so it is installed in a temporary folder and not in the project.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const compiler = 'solc@0.8.37'
const contracts = { 'usdc-stand-in': 'UsdcStandIn', 'multicall3-stand-in': 'Multicall3StandIn' }
const folder = new URL('../src/sandbox/chain/', import.meta.url)
const install = mkdtempSync(join(tmpdir(), 'compile-token-'))

try {
  execFileSync('npm', ['install', '--prefix', install, '--no-save', '--silent', compiler], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const solc = createRequire(join(install, 'package.json'))('solc')
  for (const [file, name] of Object.entries(contracts)) {
    const bytecode = compile(solc, file, name)
    writeFileSync(
      new URL(`${file}.json`, folder),
      `${JSON.stringify({ contract: name, compiler, bytecode }, null, 2)}\n`,
    )
    console.log(`${file}.json: ${(bytecode.length - 2) / 2} bytes`)
  }
} finally {
  rmSync(install, { recursive: true, force: true })
}

/** Returns the deployed code of a contract, as `anvil_setCode` takes it. */
function compile(solc, file, name) {
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [file]: { content: readFileSync(new URL(`${file}.sol`, folder), 'utf8') } },
        settings: {
          optimizer: { enabled: true, runs: 10_000 },
          evmVersion: 'paris',
          viaIR: true,
          metadata: { bytecodeHash: 'none' },
          outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
        },
      }),
    ),
  )
  const problems = output.errors ?? []
  for (const problem of problems) console.error(problem.formattedMessage)
  if (problems.some((problem) => problem.severity === 'error'))
    throw new Error(`${file}.sol does not compile`)
  return `0x${output.contracts[file][name].evm.deployedBytecode.object}`
}
