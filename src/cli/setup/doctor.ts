import { examine } from '../../app/ops/doctor.ts'
import type { Finding } from '../../app/ops/finding.ts'
import { exitStatus } from '../terminal/exit.ts'
import { readConfig } from '../terminal/with-context.ts'
import { liveLine } from '../terminal/live-line.ts'
import { print } from '../terminal/print.ts'
import { bad, dim, good, sign, warning } from '../terminal/style.ts'

const marks: Record<Finding['status'], string> = {
  ok: good(sign('✓', 'ok     ')),
  warning: warning(sign('!', 'warning')),
  problem: bad(sign('✗', 'PROBLEM')),
  off: dim(sign('-', 'off    ')),
}

export async function doctor(options: { json?: true }): Promise<void> {
  liveLine.show('checking')
  const config = await readConfig()
  const findings: Finding[] = []
  for await (const finding of examine(config)) {
    findings.push(finding)
    if (options.json) continue
    print(`${marks[finding.status]}  ${finding.name.padEnd(11)} ${finding.message}\n`)
    if (finding.todo) print(`${sign(' '.repeat(15), ' '.repeat(21))}→ ${finding.todo}\n`)
  }
  const isWell = findings.every(({ status }) => status !== 'problem')
  if (options.json) print(`${JSON.stringify({ ok: isWell, findings })}\n`)
  process.exitCode = isWell ? exitStatus.done : exitStatus.failed
}
