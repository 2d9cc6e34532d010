import { examine } from '../../app/ops/doctor.ts'
import type { Finding } from '../../app/ops/finding.ts'
import { exitStatus } from '../terminal/exit.ts'
import { readConfig } from '../terminal/with-context.ts'
import { print } from '../terminal/print.ts'

const marks: Record<Finding['status'], string> = {
  ok: 'ok     ',
  warning: 'warning',
  problem: 'PROBLEM',
  off: 'off    ',
}

export async function doctor(options: { json?: true }): Promise<void> {
  const config = await readConfig()
  const findings: Finding[] = []
  for await (const finding of examine(config)) {
    findings.push(finding)
    if (options.json) continue
    print(`${marks[finding.status]}  ${finding.name.padEnd(11)} ${finding.message}\n`)
    if (finding.todo) print(`${' '.repeat(21)}→ ${finding.todo}\n`)
  }
  const isWell = findings.every(({ status }) => status !== 'problem')
  if (options.json) print(`${JSON.stringify({ ok: isWell, findings })}\n`)
  process.exitCode = isWell ? exitStatus.done : exitStatus.failed
}
